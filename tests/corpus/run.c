/* SPDX-License-Identifier: MIT */
/* belfry-corpus: draws the corpus, and writes a hash of every frame: one line "SHADER FORM FRAME
 * HASH", frame by frame, in an order that depends on nothing but the options. Two runs that draw
 * alike write the same. (With --times a fifth field has the GPU's nanoseconds.)
 *
 * Each frame records each shader's work anew, as a renderer does; all pipelines exist from the
 * first frame to the last. It uses plain Vulkan, with a layer or without. With --commit the layer,
 * where there is one, is told between frames to finish what it does in the background. */
#include "gpu.h"

#include <fnmatch.h>
#include <libgen.h>

#include "commit.h"
#include "options.h"

#define NO_SEED UINT32_MAX

static struct {
    const char *folder, *gpu, *out, *shader, *form, *dump;
    uint32_t frames, size[2], seed, alternate, repeat;
    bool held, layer, commit, freeze, times, list;
} options = {.frames = 4, .size = {64, 64}, .alternate = NO_SEED, .repeat = 1};

static const struct sample_option table[] = {
    {"--corpus", "DIR", "the corpus; else ../corpus beside the program's folder",
     SAMPLE_OPTION_TEXT, &options.folder, 0, 0},
    {"--shader", "NAME", "draw these alone; a pattern as the shell's", SAMPLE_OPTION_TEXT,
     &options.shader, 0, 0},
    {"--form", "FORM", "draw one form alone: compute or pass", SAMPLE_OPTION_TEXT, &options.form, 0,
     0},
    {"--frames", "N", "how many (4)", SAMPLE_OPTION_NUMBER, &options.frames, 1, 1000000},
    {"--size", "WxH", "of the pictures (64x64)", SAMPLE_OPTION_SIZE, options.size, 1, 4096},
    {"--seed", "S", "of the parameters' values; 0 is their defaults (0)", SAMPLE_OPTION_NUMBER,
     &options.seed, 0, UINT32_MAX},
    {"--alternate", "S", "the seed of every second frame", SAMPLE_OPTION_NUMBER, &options.alternate,
     0, NO_SEED - 1},
    {"--held", NULL, "all frames at the same moment", SAMPLE_OPTION_FLAG, &options.held, 0, 0},
    {"--layer", NULL, "fail where Belfry's layer isn't there", SAMPLE_OPTION_FLAG, &options.layer,
     0, 0},
    {"--commit", NULL, "have the layer finish its background work after each frame",
     SAMPLE_OPTION_FLAG, &options.commit, 0, 0},
    {"--freeze", NULL,
     "with --commit: from the second frame on nothing is measured any more, so that what"
     " was built is used wherever it fits",
     SAMPLE_OPTION_FLAG, &options.freeze, 0, 0},
    {"--repeat", "N", "draw each picture N times within its frame (1)", SAMPLE_OPTION_NUMBER,
     &options.repeat, 1, 100000},
    {"--times", NULL, "write the GPU's time of each frame", SAMPLE_OPTION_FLAG, &options.times, 0,
     0},
    {"--out", "FILE", "where the lines go (standard output)", SAMPLE_OPTION_TEXT, &options.out, 0,
     0},
    {"--dump", "DIR", "write each picture there, as FLOAT PFM", SAMPLE_OPTION_TEXT, &options.dump,
     0, 0},
    {"--gpu", "NAME", "a part of the device's name", SAMPLE_OPTION_TEXT, &options.gpu, 0, 0},
    {"--list", NULL, "say what is in the corpus, and what isn't, and end", SAMPLE_OPTION_FLAG,
     &options.list, 0, 0},
};

static char *folder_default(void)
{
    char path[4096], *folder = NULL;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return NULL;
    path[length] = '\0';
    return asprintf(&folder, "%s/../corpus", dirname(path)) < 0 ? NULL : folder;
}

/* ----------------------------------------------------------------------------------- Listing -- */

static int corpus_list(const struct corpus *corpus)
{
    for (uint32_t i = 0; i < corpus->shader_count; i++) {
        const struct corpus_shader *shader = &corpus->shaders[i];
        printf("%s: %" PRIu32 " bytes of push constants:", shader->name, shader->push_size);
        for (uint32_t m = 0; m < shader->member_count; m++)
            printf(" %s%s", shader->members[m].name,
                   shader->members[m].role == CORPUS_PARAMETER ? "" : "*");
        putchar('\n');
    }
    for (uint32_t i = 0; i < corpus->skipped_count; i++)
        printf("skipped: %s: %s\n", corpus->skipped[i].name, corpus->skipped[i].reason);
    for (uint32_t i = 0; i < corpus->missing_count; i++)
        printf("missing: %s: %s\n", corpus->missing[i].name, corpus->missing[i].reason);
    printf("%" PRIu32 " shaders, %" PRIu32 " skipped, %" PRIu32 " collections missing\n",
           corpus->shader_count, corpus->skipped_count, corpus->missing_count);
    return fflush(stdout) || ferror(stdout) ? SAMPLE_EXIT_FAILED : SAMPLE_EXIT_DONE;
}

/* ----------------------------------------------------------------------------------- Drawing -- */

struct run {
    struct corpus corpus;
    struct corpus_gpu gpu;
    struct commit commit;
    struct corpus_pipeline *pipelines;
    uint32_t count;
    FILE *out;
};

/* The upper three channels alone: PFM has no fourth. */
static bool picture_dump(const struct run *run, const struct corpus_pipeline *pipeline,
                         uint32_t frame)
{
    char name[CORPUS_NAME_MOST], path[4096];
    snprintf(name, sizeof name, "%s", pipeline->shader->name);
    for (char *at = name; (at = strchr(at, '/'));)
        *at = '-';
    snprintf(path, sizeof path, "%s/%s-%s-%" PRIu32 ".pfm", options.dump, name,
             corpus_form_name(pipeline->form), frame);
    FILE *file = fopen(path, "wb");
    if (!file) {
        sample_complain("%s: %s", path, strerror(errno));
        return false;
    }
    uint32_t width = run->gpu.extent.width, height = run->gpu.extent.height;
    const float *pixels = run->gpu.pixels.mapped;
    fprintf(file, "PF\n%" PRIu32 " %" PRIu32 "\n-1.0\n", width, height);
    for (uint32_t y = height; y-- > 0;)
        for (uint32_t x = 0; x < width; x++)
            fwrite(pixels + 4 * ((size_t)y * width + x), sizeof *pixels, 3, file);
    bool written = !ferror(file);
    written = !fclose(file) && written;
    if (!written)
        sample_complain("%s can't be written", path);
    return written;
}

static bool pipelines_create(struct run *run)
{
    struct corpus *corpus = &run->corpus;
    run->pipelines =
        calloc((size_t)corpus->shader_count * CORPUS_FORMS + 1, sizeof *run->pipelines);
    if (!run->pipelines) {
        sample_complain("out of memory");
        return false;
    }
    for (uint32_t i = 0; i < corpus->shader_count; i++) {
        for (uint32_t form = 0; form < CORPUS_FORMS; form++) {
            if ((options.shader && fnmatch(options.shader, corpus->shaders[i].name, 0)) ||
                (options.form && strcmp(options.form, corpus_form_name(form))))
                continue;
            if (corpus_pipeline_create(&run->gpu, corpus, &corpus->shaders[i], form,
                                       &run->pipelines[run->count]) < 0) {
                sample_complain("%s has no pipeline", corpus->shaders[i].name);
                return false;
            }
            run->count++;
        }
    }
    if (!run->count)
        sample_complain("no shader is called '%s'", options.shader ? options.shader : "");
    return run->count > 0;
}

static bool picture_draw(struct run *run, const struct corpus_pipeline *pipeline, uint32_t frame)
{
    const struct corpus_moment moment = {
        .frame = frame,
        .width = options.size[0],
        .height = options.size[1],
        .seed = options.alternate != NO_SEED && frame % 2 ? options.alternate : options.seed,
        .held = options.held};
    uint8_t push[CORPUS_PUSH_MOST];
    double ns;

    corpus_values(pipeline->shader, &moment, push);
    if (corpus_frame(&run->gpu, pipeline, push, options.repeat, options.times ? &ns : NULL) < 0) {
        sample_complain("%s: frame %" PRIu32 " can't be drawn", pipeline->shader->name, frame);
        return false;
    }
    fprintf(run->out, "%s %s %" PRIu32 " %016" PRIx64, pipeline->shader->name,
            corpus_form_name(pipeline->form), frame, corpus_frame_hash(&run->gpu));
    if (options.times)
        fprintf(run->out, " %.0f", ns);
    fputc('\n', run->out);
    return !options.dump || picture_dump(run, pipeline, frame);
}

static bool frames_draw(struct run *run)
{
    bool more = false;
    for (uint32_t frame = 0; frame < options.frames; frame++) {
        for (uint32_t i = 0; i < run->count; i++)
            if (!picture_draw(run, &run->pipelines[i], frame))
                return false;
        if (options.commit && !commit_results(&run->commit, options.freeze && frame > 0, &more))
            return false;
    }
    return true;
}

static int run_all(struct run *run)
{
    int code = corpus_gpu_open(&run->gpu, options.gpu, options.size[0], options.size[1]);
    if (code != SAMPLE_EXIT_DONE)
        return code;
    if (!commit_open(&run->commit, run->gpu.device.handle))
        return SAMPLE_EXIT_FAILED;
    if (options.layer && !run->commit.device) {
        sample_complain("Belfry's layer isn't there");
        return SAMPLE_EXIT_FAILED;
    }
    run->out = options.out ? fopen(options.out, "w") : stdout;
    if (!run->out) {
        sample_complain("%s: %s", options.out, strerror(errno));
        return SAMPLE_EXIT_FAILED;
    }
    bool done = pipelines_create(run) && frames_draw(run);
    bool written = !fflush(run->out) && !ferror(run->out);
    if (run->out != stdout)
        written = !fclose(run->out) && written;
    if (!written)
        sample_complain("the hashes can't be written: %s", strerror(errno));
    return done && written ? SAMPLE_EXIT_DONE : SAMPLE_EXIT_FAILED;
}

int main(int argc, char **argv)
{
    struct run run = {0};
    int code =
        sample_options_parse(table, sizeof table / sizeof *table,
                             "Draws the corpus and writes a hash of every frame.", argc, argv);
    if (code != SAMPLE_OPTIONS_GO_ON)
        return code;
    if (options.form && strcmp(options.form, "compute") && strcmp(options.form, "pass")) {
        sample_complain("--form '%s': expected compute or pass", options.form);
        return SAMPLE_EXIT_USAGE;
    }
    char *folder = options.folder ? strdup(options.folder) : folder_default();
    if (!folder) {
        sample_complain("out of memory");
        return SAMPLE_EXIT_FAILED;
    }
    if (!corpus_open(folder, &run.corpus)) {
        sample_complain("%s", run.corpus.error);
        code = access(folder, F_OK) ? SAMPLE_EXIT_NO_DEVICE : SAMPLE_EXIT_FAILED;
        free(folder);
        return code;
    }
    if (options.list) {
        code = corpus_list(&run.corpus);
    } else {
        code = run_all(&run);
        for (uint32_t i = 0; i < run.count; i++)
            corpus_pipeline_destroy(&run.gpu, &run.pipelines[i]);
        free(run.pipelines);
        commit_close(&run.commit);
        corpus_gpu_close(&run.gpu);
    }
    corpus_close(&run.corpus);
    free(folder);
    return code;
}
