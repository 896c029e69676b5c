/* SPDX-License-Identifier: MIT */
/* belfry-corpus-wrap: makes the corpus (corpus.h) of what other people published.
 *
 *   belfry-corpus-wrap --out FOLDER --vertex FILE [--transitions FOLDER] [--dolphin FOLDER]
 *                      [--missing NAME=REASON]...
 *
 * It wraps every *.glsl it finds there, has glslc compile all of them at once, and writes the
 * manifest last. What doesn't compile is skipped with the compiler's first error. Compute forms are
 * as the compiler leaves them, in SPIR-V 1.3; passes are optimised, in SPIR-V 1.6: programs ship
 * both.
 *
 * Exits with 77 where there is no glslc. */
#include "wrap.h"

#include <dirent.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>

#define EXIT_NO_COMPILER 77
#define SOURCE_MOST      (1 << 20) /* bytes; a larger file is no shader */
#define COLLECTIONS      2
#define PATH_SIZE        4096
#define DEPTH_MOST       4 /* folders in folders */

extern char **environ;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "belfry-corpus-wrap: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(1);
}

/* A name made of two others; dies when it is too long. */
static void join(char *to, size_t size, const char *left, const char *between, const char *right)
{
    if ((size_t)snprintf(to, size, "%s%s%s", left, between, right) >= size)
        die("the name %s%s%s is too long", left, between, right);
}

/* Where one collection comes from. */
struct collection {
    const char *name, *option;
    bool (*wrap)(struct wrapping *wrapping, const char *text);
    const char *folder; /* NULL: not given */
};

static struct collection collections[COLLECTIONS] = {
    {"gl-transitions", "--transitions", wrap_transition, NULL},
    {"dolphin", "--dolphin", wrap_dolphin, NULL},
};

static struct {
    const char *out, *vertex;
    const char *missing[16];
    uint32_t missing_count;
    struct wrapping *wrappings;
    uint32_t count, room;
} wrap;

/* ------------------------------------------------------------------------------------- Files -- */

static char *file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = malloc(SOURCE_MOST);
    if (!file || !text)
        die("%s: %s", path, strerror(errno));
    size_t size = fread(text, 1, SOURCE_MOST, file);
    if (ferror(file))
        die("%s: %s", path, strerror(errno));
    if (size == SOURCE_MOST)
        die("%s is too large for a shader", path);
    text[size] = '\0';
    fclose(file);
    return text;
}

static void file_write(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file))
        die("%s/%s: %s", wrap.out, name, strerror(errno));
}

static bool name_is_plain(const char *name)
{
    return name[strspn(
               name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-/")] == '\0';
}

static struct wrapping *wrapping_add(void)
{
    if (wrap.count == wrap.room) {
        wrap.room = wrap.room ? 2 * wrap.room : 64;
        wrap.wrappings = realloc(wrap.wrappings, wrap.room * sizeof *wrap.wrappings);
        if (!wrap.wrappings)
            die("out of memory");
    }
    struct wrapping *wrapping = &wrap.wrappings[wrap.count++];
    memset(wrapping, 0, sizeof *wrapping);
    return wrapping;
}

/* One shader; 'name' is its path within the collection, without the ending. */
static void shader_wrap(const struct collection *collection, const char *path, const char *name)
{
    struct wrapping *wrapping = wrapping_add();
    struct corpus_shader *shader = &wrapping->shader;
    char file[CORPUS_NAME_MOST - 16]; /* room for the endings */

    join(shader->name, sizeof shader->name, collection->name, "/", name);
    if (!name_is_plain(name)) {
        for (char *at = shader->name; (at = strpbrk(at, " \t\n"));)
            *at = '?';
        wrap_refuse(wrapping, "its name has characters that a manifest can't hold");
        return;
    }
    join(file, sizeof file, shader->name, "", "");
    for (char *at = file; (at = strchr(at, '/'));)
        *at = '-';
    join(shader->compute, sizeof shader->compute, file, "", ".comp.spv");
    join(shader->pass, sizeof shader->pass, file, "", ".frag.spv");

    char *text = file_read(path), source[CORPUS_NAME_MOST];
    if (collection->wrap(wrapping, text)) {
        join(source, sizeof source, file, "", ".comp");
        file_write(source, wrapping->compute);
        join(source, sizeof source, file, "", ".frag");
        file_write(source, wrapping->pass);
    }
    free(text);
}

/* All *.glsl below the folder, in the order of their names. */
static void folder_wrap(const struct collection *collection, const char *folder, const char *prefix,
                        uint32_t depth)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0)
        die("%s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char path[PATH_SIZE], name[PATH_SIZE];
        struct stat status;
        char *ending = strrchr(entries[i]->d_name, '.');
        join(path, sizeof path, folder, "/", entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && stat(path, &status) == 0) {
            if (S_ISDIR(status.st_mode) && depth < DEPTH_MOST) {
                join(name, sizeof name, prefix, entries[i]->d_name, "/");
                folder_wrap(collection, path, name, depth + 1);
            } else if (S_ISREG(status.st_mode) && ending && !strcmp(ending, ".glsl")) {
                *ending = '\0';
                join(name, sizeof name, prefix, "", entries[i]->d_name);
                shader_wrap(collection, path, name);
            }
        }
        free(entries[i]);
    }
    free(entries);
}

/* ------------------------------------------------------------------------------ The compiler -- */

/* Everything that one form's compiler is called with. */
struct compilation {
    const char *suffix; /* of the sources that it takes */
    const char *log;
    const char *options[4];
    pid_t pid; /* -1: there was nothing to compile */
};

static struct compilation compilations[] = {
    {".comp", "comp.log", {"--target-env=vulkan1.1"}, -1},
    {".frag", "frag.log", {"--target-env=vulkan1.3", "-O"}, -1},
    {".vert", "vert.log", {"--target-env=vulkan1.1"}, -1},
};

static void compile_begin(struct compilation *compilation)
{
    char *arguments[8] = {(char *)"glslc", (char *)"-c"};
    uint32_t count = 2;
    for (uint32_t i = 0; compilation->options[i]; i++)
        arguments[count++] = (char *)compilation->options[i];

    /* The sources, by name: the folder is the working directory. */
    struct dirent **entries;
    int found = scandir(".", &entries, NULL, alphasort), sources = 0;
    if (found < 0)
        die("%s: %s", wrap.out, strerror(errno));
    char **all = calloc(count + (size_t)found + 1, sizeof *all);
    if (!all)
        die("out of memory");
    memcpy(all, arguments, count * sizeof *all);
    for (int i = 0; i < found; i++) {
        const char *ending = strrchr(entries[i]->d_name, '.');
        if (ending && !strcmp(ending, compilation->suffix))
            all[count + (uint32_t)sources++] = entries[i]->d_name;
    }

    if (sources) {
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, compilation->log,
                                         O_WRONLY | O_CREAT | O_TRUNC, 0666);
        posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
        int error = posix_spawnp(&compilation->pid, all[0], &actions, NULL, all, environ);
        posix_spawn_file_actions_destroy(&actions);
        if (error == ENOENT) {
            fprintf(stderr, "belfry-corpus-wrap: there is no glslc on this machine\n");
            exit(EXIT_NO_COMPILER);
        }
        if (error)
            die("glslc: %s", strerror(error));
    }
    for (int i = 0; i < found; i++)
        free(entries[i]);
    free(entries);
    free(all);
}

/* Shaders that don't compile make it fail as well: what it made is what counts. */
static void compile_end(const struct compilation *compilation)
{
    int status;
    if (compilation->pid < 0)
        return;
    while (waitpid(compilation->pid, &status, 0) < 0)
        if (errno != EINTR)
            die("glslc: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
        die("glslc died; see %s/%s", wrap.out, compilation->log);
}

/* The first error in the log that is about the file, into 'reason'. */
static void error_find(const struct compilation *compilation, const char *spirv,
                       struct wrapping *wrapping)
{
    char line[1024];
    size_t length = strlen(spirv) - strlen(".spv");
    FILE *log = fopen(compilation->log, "r");
    while (log && fgets(line, sizeof line, log)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, spirv, length) && line[length] == ':') {
            wrap_refuse(wrapping, "%s: line %s", compilation->suffix + 1, line + length + 1);
            break;
        }
    }
    if (log)
        fclose(log);
    if (!wrapping->reason[0])
        wrap_refuse(wrapping, "glslc made no %s; see its log", spirv);
}

static void compile_all(void)
{
    const size_t count = sizeof compilations / sizeof *compilations;
    for (size_t i = 0; i < count; i++)
        compile_begin(&compilations[i]);
    for (size_t i = 0; i < count; i++)
        compile_end(&compilations[i]);
    for (uint32_t i = 0; i < wrap.count; i++) {
        struct wrapping *wrapping = &wrap.wrappings[i];
        if (wrapping->reason[0])
            continue;
        if (access(wrapping->shader.compute, R_OK))
            error_find(&compilations[0], wrapping->shader.compute, wrapping);
        else if (access(wrapping->shader.pass, R_OK))
            error_find(&compilations[1], wrapping->shader.pass, wrapping);
    }
    if (access("screen.vert.spv", R_OK))
        die("the vertex shader doesn't compile; see %s/vert.log", wrap.out);
}

/* ------------------------------------------------------------------------------ The manifest -- */

static void shader_describe(FILE *out, const struct corpus_shader *shader)
{
    fprintf(out, "shader %s %" PRIu32 " %s %s %s\n", shader->name, shader->push_size,
            shader->buffer ? "buffer" : "image", shader->compute, shader->pass);
    for (uint32_t i = 0; i < shader->member_count; i++) {
        const struct corpus_member *member = &shader->members[i];
        fprintf(out, "member %s %s %" PRIu32 " %s", member->name, member->type->name,
                member->offset, corpus_role_name(member->role));
        for (uint32_t v = 0; v < member->type->count; v++)
            if (member->type->kind == CORPUS_FLOAT)
                fprintf(out, " %.9g", (double)member->values[v].f);
            else if (member->type->kind == CORPUS_INT)
                fprintf(out, " %" PRId32, member->values[v].i);
            else
                fprintf(out, " %" PRIu32, member->values[v].u);
        fputc('\n', out);
    }
}

static uint32_t manifest_write(void)
{
    uint32_t made = 0;
    FILE *out = fopen(CORPUS_MANIFEST, "wb");
    if (!out)
        die("%s/%s: %s", wrap.out, CORPUS_MANIFEST, strerror(errno));
    fprintf(out, "belfry-corpus 1\nvertex screen.vert.spv\n");
    for (uint32_t i = 0; i < wrap.missing_count; i++) {
        const char *reason = strchr(wrap.missing[i], '=');
        fprintf(out, "missing %.*s %s\n", (int)(reason - wrap.missing[i]), wrap.missing[i],
                reason + 1);
    }
    for (uint32_t i = 0; i < wrap.count; i++) {
        const struct wrapping *wrapping = &wrap.wrappings[i];
        if (wrapping->reason[0]) {
            fprintf(out, "skip %s %s\n", wrapping->shader.name, wrapping->reason);
        } else {
            shader_describe(out, &wrapping->shader);
            made++;
        }
    }
    if (ferror(out) || fclose(out))
        die("%s/%s: %s", wrap.out, CORPUS_MANIFEST, strerror(errno));
    return made;
}

/* ---------------------------------------------------------------------------------------------- */

static void arguments_read(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = argv[++i];
        bool known = true;
        if (!value)
            die("%s needs a value", name);
        if (!strcmp(name, "--out")) {
            wrap.out = value;
        } else if (!strcmp(name, "--vertex")) {
            wrap.vertex = value;
        } else if (!strcmp(name, "--missing")) {
            if (wrap.missing_count == 16 || !strchr(value, '=') || !strchr(value, '=')[1])
                die("--missing %s: expected NAME=REASON, 16 of them at most", value);
            wrap.missing[wrap.missing_count++] = value;
        } else {
            known = false;
            for (uint32_t c = 0; c < COLLECTIONS && !known; c++) {
                known = !strcmp(name, collections[c].option);
                if (known)
                    collections[c].folder = value;
            }
        }
        if (!known)
            die("unknown argument '%s'", name);
    }
    if (!wrap.out || !wrap.vertex)
        die("--out and --vertex are needed");
}

int main(int argc, char **argv)
{
    arguments_read(argc, argv);
    /* Names may be relative: the working directory changes after they have been read. */
    char *vertex = file_read(wrap.vertex);
    for (uint32_t c = 0; c < COLLECTIONS; c++) {
        if (collections[c].folder) {
            collections[c].folder = realpath(collections[c].folder, NULL);
            if (!collections[c].folder)
                die("%s: %s", collections[c].name, strerror(errno));
        }
    }
    if (mkdir(wrap.out, 0777) || chdir(wrap.out))
        die("%s: %s", wrap.out, strerror(errno));
    file_write("screen.vert", vertex);
    free(vertex);
    for (uint32_t c = 0; c < COLLECTIONS; c++)
        if (collections[c].folder)
            folder_wrap(&collections[c], collections[c].folder, "", 0);
    compile_all();
    uint32_t made = manifest_write();
    printf("%" PRIu32 " shaders wrapped, %" PRIu32 " skipped\n", made, wrap.count - made);

    for (uint32_t c = 0; c < COLLECTIONS; c++)
        free((char *)collections[c].folder);
    for (uint32_t i = 0; i < wrap.count; i++)
        wrapping_free(&wrap.wrappings[i]);
    free(wrap.wrappings);
    return 0;
}
