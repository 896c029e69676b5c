/* SPDX-License-Identifier: MIT */
/*
 * 'belfry run': starts a program with the layer, by the environment the Vulkan loader reads, and
 * leaves everything else as it is.
 *
 * RU-1  What the user has set, in a variable or in a settings file, is what the program gets; only
 *       'queues' of a file doesn't count.
 */
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "belfry/belfry.h"
#include "cli/run_trace.h"
#include "cli/run_watch.h"
#include "settings/settings.h"

#define VARIABLE_PREFIX "VK_BELFRY_MULTI_ENGINE_"
#define LAYER_MAXIMUM   8

/* The layer's place among the other layers. */
enum order {
    ORDER_ABOVE, /* nearest to the program */
    ORDER_BELOW, /* nearest to the driver */
};

struct request {
    enum order order;
    bool order_given;
    const char *layers[LAYER_MAXIMUM]; /* others to switch on, from the program to the driver */
    uint32_t layer_count;
    bool specialize_given; /* by an option */
    char *trace;           /* the file that was asked for, or NULL; */
    char *trace_former;    /* and the one that lies there */
};

static void environment_set(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0) {
        cli_warn("can't set %s: %s", name, strerror(errno));
        exit(CLI_FAILED);
    }
}

/* As getenv, but an empty value counts as none, which is how the loader sees it. */
static const char *environment_get(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* Passes a setting on. A wrong one is reported in one line, and nothing is run. */
static int setting_pass(struct request *request, const char *key, const char *value,
                        const char *origin)
{
    if (!bf_setting_check(key, value, origin, false)) {
        return CLI_USAGE;
    }
    char *name = cli_format(VARIABLE_PREFIX "%s", key);
    for (char *c = name; *c; c++) {
        *c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
    }
    const struct bf_setting_row *rows;
    uint32_t count = bf_settings_rows(&rows);
    bool path = false;
    for (uint32_t i = 0; i < count; i++) {
        path |= rows[i].kind == BF_VALUE_PATH && strcmp(rows[i].key, key) == 0;
    }
    /* Makes the path absolute: it is meant relative to the current folder, and the program may
     * change that. */
    char folder[PATH_MAX];
    bool relative = path && *value != '/' && getcwd(folder, sizeof(folder));
    char *absolute = relative ? cli_format("%s/%s", folder, value) : cli_format("%s", value);
    environment_set(name, absolute);
    free(name);
    request->specialize_given |= strcmp(key, "specialize") == 0;
    if (strcmp(key, "trace") == 0) {
        free(request->trace);
        request->trace = absolute;
        absolute = NULL;
    }
    free(absolute);
    return CLI_DONE;
}

static int setting_option(struct request *request, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        return cli_usage("run", "--set takes KEY=VALUE, not '%s'", text);
    }
    if (!equals[1]) { /* an empty variable counts as none: another would count */
        return cli_usage("run", "--set takes a value behind '%s'", text);
    }
    char *key = cli_format("%.*s", (int)(equals - text), text);
    int result = setting_pass(request, key, equals + 1, "--set");
    free(key);
    return result;
}

static int layer_option(struct request *request, enum order order, const char *layer)
{
    if (request->order_given && request->order != order) {
        return cli_usage("run", "--above and --below can't both be given");
    }
    if (request->layer_count == LAYER_MAXIMUM) {
        return cli_usage("run", "more than %d layers", LAYER_MAXIMUM);
    }
    if (!*layer || strpbrk(layer, ":,*")) {
        return cli_usage("run", "'%s' is no layer's name", layer);
    }
    request->order = order;
    request->order_given = true;
    request->layers[request->layer_count++] = layer;
    return CLI_DONE;
}

static bool layer_is_requested(const struct request *request, const char *name, size_t length)
{
    if (strlen(BF_LAYER_NAME) == length && memcmp(name, BF_LAYER_NAME, length) == 0) {
        return true;
    }
    for (uint32_t i = 0; i < request->layer_count; i++) {
        if (strlen(request->layers[i]) == length && memcmp(name, request->layers[i], length) == 0) {
            return true;
        }
    }
    return false;
}

/* VK_INSTANCE_LAYERS names layers from the program to the driver. What the user has there stays,
 * in its order. */
static char *layers_compose(const struct request *request)
{
    char *others = cli_format("%s", "");
    const char *list = environment_get("VK_INSTANCE_LAYERS");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        if (length > 0 && !layer_is_requested(request, list, length)) {
            char *longer = cli_format("%s%.*s:", others, (int)length, list);
            free(others);
            others = longer;
        }
        list += length + (list[length] == ':');
    }
    char *requested = cli_format("%s", "");
    for (uint32_t i = 0; i < request->layer_count; i++) {
        char *longer = cli_format("%s%s:", requested, request->layers[i]);
        free(requested);
        requested = longer;
    }

    char *layers = request->order == ORDER_BELOW
                       ? cli_format("%s%s" BF_LAYER_NAME, others, requested)
                       : cli_format(BF_LAYER_NAME ":%s%s", requested, others);
    size_t length = strlen(layers);
    if (layers[length - 1] == ':') {
        layers[length - 1] = '\0';
    }
    free(requested);
    free(others);
    return layers;
}

/* Appends 'folder' (or each of a list of them) with 'suffix' to '*path'. */
static void path_append(char **path, const char *folders, const char *suffix)
{
    while (*folders) {
        size_t length = strcspn(folders, ":");
        if (length > 0) {
            char *longer =
                cli_format("%s%s%.*s%s", *path, **path ? ":" : "", (int)length, folders, suffix);
            free(*path);
            *path = longer;
        }
        folders += length + (folders[length] == ':');
    }
}

/* The folders in which the loader looks for explicit layers by default. */
static char *path_default(void)
{
    static const char suffix[] = "/vulkan/explicit_layer.d";
    char *path = cli_format("%s", "");
    const char *home = environment_get("HOME");
    const char *own = environment_get("XDG_CONFIG_HOME");
    const char *list = environment_get("XDG_CONFIG_DIRS");
    if (own) {
        path_append(&path, own, suffix);
    } else if (home) {
        path_append(&path, home, "/.config/vulkan/explicit_layer.d");
    }
    path_append(&path, list ? list : "/etc/xdg", suffix);
    path_append(&path, "/etc", suffix);
    own = environment_get("XDG_DATA_HOME");
    list = environment_get("XDG_DATA_DIRS");
    if (own) {
        path_append(&path, own, suffix);
    } else if (home) {
        path_append(&path, home, "/.local/share/vulkan/explicit_layer.d");
    }
    path_append(&path, list ? list : "/usr/local/share:/usr/share", suffix);
    return path;
}

static int manifest_is_other(const struct dirent *entry)
{
    const char *suffix = strrchr(entry->d_name, '.');
    return suffix && strcmp(suffix, ".json") == 0 && strcmp(entry->d_name, CLI_MANIFEST) != 0;
}

/* Appends each of 'places' (folders and manifests) to '*path', but no manifest of Belfry's: a
 * folder that has one gives way to its other manifests. Returns whether that was needed. */
static bool path_append_others(char **path, const char *places)
{
    bool needed = false;
    while (*places) {
        size_t length = strcspn(places, ":");
        char *place = cli_format("%.*s", (int)length, places);
        char *ours = cli_format("%s/" CLI_MANIFEST, place);
        const char *name = strrchr(place, '/');
        struct dirent **entries;
        int count = 0;
        if (name && strcmp(name + 1, CLI_MANIFEST) == 0) {
            needed = true;
        } else if (access(ours, F_OK) == 0 &&
                   (count = scandir(place, &entries, manifest_is_other, alphasort)) >= 0) {
            needed = true;
            for (int i = 0; i < count; i++) {
                char *other = cli_format("%s/%s", place, entries[i]->d_name);
                path_append(path, other, "");
                free(other);
                free(entries[i]);
            }
            free(entries);
        } else {
            path_append(path, place, "");
        }
        free(ours);
        free(place);
        places += length + (places[length] == ':');
    }
    return needed;
}

/*
 * Makes the loader find the manifest, and all it found before.
 *
 * VK_ADD_LAYER_PATH is looked at before the usual places, unless VK_LAYER_PATH replaces them all.
 * Two things take the whole list in VK_LAYER_PATH, because of loaders before 1.3.247: they order
 * layers as they find them, not as VK_INSTANCE_LAYERS has them, so that ours must be found last to
 * be below the others; and of two manifests of one layer they take the last, so that another
 * Belfry, installed, must not be found at all.
 */
static void path_pass(const struct request *request, const char *manifest)
{
    const char *replaced = environment_get("VK_LAYER_PATH");
    const char *added = environment_get("VK_ADD_LAYER_PATH");
    char *usual = replaced ? cli_format("%s", replaced) : path_default();
    if (added && !replaced) {
        char *longer = cli_format("%s:%s", added, usual);
        free(usual);
        usual = longer;
    }
    char *others = cli_format("%s", "");
    bool another = path_append_others(&others, usual);

    char *path = cli_format("%s", "");
    if (request->order == ORDER_BELOW) {
        path_append(&path, others, "");
        path_append(&path, manifest, "");
        environment_set("VK_LAYER_PATH", path);
    } else if (replaced || another) {
        path_append(&path, manifest, "");
        path_append(&path, others, "");
        environment_set("VK_LAYER_PATH", path);
    } else {
        path_append(&path, manifest, "");
        path_append(&path, added ? added : "", "");
        environment_set("VK_ADD_LAYER_PATH", path);
    }
    free(path);
    free(others);
    free(usual);
}

static int environment_prepare(const struct request *request)
{
    char *manifest = cli_manifest();
    if (!manifest) {
        return CLI_FAILED;
    }
    if (strchr(manifest, ':')) {
        cli_warn("the Vulkan loader can't take a path with a colon: %s", manifest);
        free(manifest);
        return CLI_FAILED;
    }
    path_pass(request, manifest);
    free(manifest);

    char *layers = layers_compose(request);
    environment_set("VK_INSTANCE_LAYERS", layers);
    free(layers);

    /* The layer is asked for explicitly here, so patterns that disable layers don't apply to it. */
    if (environment_get("VK_LOADER_LAYERS_DISABLE")) {
        const char *enabled = environment_get("VK_LOADER_LAYERS_ENABLE");
        char *list = cli_format("%s%s" BF_LAYER_NAME, enabled ? enabled : "", enabled ? "," : "");
        for (uint32_t i = 0; i < request->layer_count; i++) {
            char *longer = cli_format("%s,%s", list, request->layers[i]);
            free(list);
            list = longer;
        }
        environment_set("VK_LOADER_LAYERS_ENABLE", list);
        free(list);
    }
    return CLI_DONE;
}

/* The settings that the program would have so far. The caller finishes them. */
static int settings_look(struct bf_settings *settings)
{
    if (bf_settings_load(NULL, environ, bf_settings_is_privileged(), false, true, settings) ==
        VK_SUCCESS) {
        return CLI_DONE;
    }
    cli_warn("out of memory");
    return CLI_FAILED;
}

static void variable_reject(const char *key, const char *variable)
{
    const char *value = environment_get(variable);
    if (value) {
        bf_setting_check(key, value, variable, false);
    }
}

/* RU-1. What is the default with 'belfry run' alone. A variable or an option may say otherwise; so
 * may a settings file, but for 'queues', which is for programs that don't ask for more. */
static int defaults_set(void)
{
    static const struct {
        uint32_t row;
        const char *key, *name, *shorter, *value;
        bool over_file;
    } defaults[] = {
        {BF_KEY_QUEUES, "queues", VARIABLE_PREFIX "QUEUES", "VK_MULTI_ENGINE_QUEUES", "append",
         true},
        {BF_KEY_WATCHDOG, "watchdog", VARIABLE_PREFIX "WATCHDOG", "VK_MULTI_ENGINE_WATCHDOG",
         "1000", false},
        {BF_KEY_AT_INTERRUPT, "at_interrupt", VARIABLE_PREFIX "AT_INTERRUPT",
         "VK_MULTI_ENGINE_AT_INTERRUPT", "true", false},
    };
    struct bf_settings settings;
    int result = settings_look(&settings);
    if (result != CLI_DONE) {
        return result;
    }
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        enum bf_setting_source source = bf_settings_source(&settings, defaults[i].row);
        if (source == BF_SETTING_ENVIRONMENT ||
            (source == BF_SETTING_FILE && !defaults[i].over_file)) {
            continue;
        }
        /* What is there is wrong, and the program doesn't get to see it. */
        variable_reject(defaults[i].key, defaults[i].name);
        variable_reject(defaults[i].key, defaults[i].shorter);
        environment_set(defaults[i].name, defaults[i].value);
    }
    bf_settings_finish(&settings);
    return CLI_DONE;
}

/* Where execvp looks for programs. The caller frees it. */
static char *program_path(void)
{
    const char *list = getenv("PATH");
    if (list) {
        return cli_format("%s", list);
    }
    char usual[PATH_MAX] = "";
    confstr(_CS_PATH, usual, sizeof(usual));
    return cli_format("%s", usual);
}

static bool program_is_there(const char *path, struct stat *status)
{
    return stat(path, status) == 0 && S_ISREG(status->st_mode) && access(path, X_OK) == 0;
}

/* The program, or NULL. An empty part of the list is the current folder. */
static char *program_find(const char *program, struct stat *status)
{
    char *folders = strchr(program, '/') ? NULL : program_path();
    char *path = folders ? NULL : cli_format("%s", program);
    bool found = path && program_is_there(path, status);
    for (const char *list = folders; list && !found;) {
        size_t length = strcspn(list, ":");
        free(path);
        path = cli_format("%.*s/%s", length ? (int)length : 1, length ? list : ".", program);
        found = program_is_there(path, status);
        list = list[length] ? list + length + 1 : NULL;
    }
    free(folders);
    if (!found) {
        free(path);
        path = NULL;
    }
    return path;
}

/* Whether there is such a program. In programs with raised privileges the loader ignores its path
 * variables, so it won't find the layer: one line says so. */
static bool program_look(const char *program)
{
    struct stat status;
    char *path = program_find(program, &status);
    if (path) {
        bool raised = ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
                      ((status.st_mode & S_ISGID) && status.st_gid != getgid()) ||
                      (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0);
        if (raised) {
            cli_warn("%s runs with raised privileges: there the Vulkan loader takes layers from "
                     "the system's folders alone",
                     path);
        }
    }
    bool found = path != NULL;
    free(path);
    return found;
}

/* A trace shows the program as it is: that a settings file has shaders rebuilt for all programs
 * doesn't count for one. An option or the environment asks for this very run. */
static int specialize_leave_out(void)
{
    struct bf_settings settings;
    int result = settings_look(&settings);
    if (result != CLI_DONE) {
        return result;
    }
    if (settings.specialize == BF_SPECIALIZE_EXACT &&
        bf_settings_source(&settings, BF_KEY_SPECIALIZE) == BF_SETTING_FILE) {
        cli_warn("--trace: specialize is off, though %s has it on; '--set specialize=exact' traces "
                 "that, too",
                 bf_settings_origin(&settings, BF_KEY_SPECIALIZE));
        environment_set(VARIABLE_PREFIX "SPECIALIZE", "off");
    }
    bf_settings_finish(&settings);
    return CLI_DONE;
}

/* Returns only if the program isn't there in its place. */
static int request_run(struct request *request, int argc, char **argv)
{
    static const struct option options[] = {
        {"trace", required_argument, NULL, 't'},
        {"queues", required_argument, NULL, 'q'},
        {"summary", no_argument, NULL, 's'},
        {"set", required_argument, NULL, 'S'},
        {"above", required_argument, NULL, 'a'},
        {"below", required_argument, NULL, 'b'},
        {"report", no_argument, NULL, 'r'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int result = CLI_DONE;
    int option;
    opterr = 0;
    /* '+': options behind the program's name are the program's. */
    while ((option = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
        switch (option) {
        case 't':
            if (!*optarg) {
                return cli_usage("run", "--trace takes the name of a file");
            }
            result = setting_pass(request, "trace", optarg, "--trace");
            break;
        case 'q':
            result = setting_pass(request, "queues", optarg, "--queues");
            break;
        case 's':
            result = setting_pass(request, "summary", "true", "--summary");
            break;
        case 'r':
            result = setting_pass(request, "report", "true", "--report");
            break;
        case 'S':
            result = setting_option(request, optarg);
            break;
        case 'a':
            result = layer_option(request, ORDER_ABOVE, optarg);
            break;
        case 'b':
            result = layer_option(request, ORDER_BELOW, optarg);
            break;
        case 'h':
            fputs(cli_run.details, stdout);
            return CLI_DONE;
        case ':':
            return cli_usage("run", "option '%s' lacks its argument", argv[optind - 1]);
        default:
            return cli_usage_option("run", options, argv);
        }
        if (result != CLI_DONE) {
            return result;
        }
    }
    if (optind == argc) {
        return cli_usage("run", "which program?");
    }

    if (request->trace) {
        result = run_trace_check(request->trace, &request->trace_former);
        if (result != CLI_DONE)
            return result;
        /* Where a symbolic link leads to: the program creates the file, and follows none. */
        if (request->trace_former)
            environment_set(VARIABLE_PREFIX "TRACE", request->trace_former);
    }
    result = environment_prepare(request);
    if (result == CLI_DONE) {
        result = defaults_set();
    }
    if (result != CLI_DONE) {
        return result;
    }
    if (request->trace && !request->specialize_given) {
        result = specialize_leave_out();
        if (result != CLI_DONE)
            return result;
    }
    char **program = argv + optind;
    int former = -1;
    if (program_look(program[0]) && request->trace_former) {
        result = run_trace_clear(request->trace_former, &former);
        if (result != CLI_DONE)
            return result;
    }
    int watch = request->trace ? run_watch_begin(program[0], getenv(VARIABLE_PREFIX "TRACE")) : -1;
    execvp(program[0], program);
    int error = errno;
    run_watch_end(watch);
    run_trace_restore(request->trace_former, former);
    cli_warn("can't run '%s': %s", program[0], strerror(error));
    return error == ENOENT || error == ENOTDIR ? CLI_NOT_FOUND : CLI_NOT_EXECUTABLE;
}

static int run_main(int argc, char **argv)
{
    struct request request = {.order = ORDER_ABOVE};
    int result = request_run(&request, argc, argv);
    free(request.trace);
    free(request.trace_former);
    return result;
}

const struct cli_command cli_run = {
    .name = "run",
    .arguments = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .summary = "starts a Vulkan program with the layer",
    .details =
        "Starts a Vulkan program with the layer " BF_LAYER_NAME ", for this program alone:\n"
        "nothing is installed.\n\n"
        "  --trace FILE     write a trace of every queue to FILE, in the place of an earlier "
        "trace;\n"
        "                   'belfry trace FILE' reports what it shows. Where several processes\n"
        "                   write one, further ones get a number: run.pftrace, run-1.pftrace.\n"
        "                   'specialize' in a settings file doesn't count then\n"
        "  --queues MODE    append (default): the GPU's own families, and those it lacks, of two\n"
        "                   queues each; native: the GPU's own families alone\n"
        "  --summary        print what queues and engines did when a device is destroyed\n"
        "  --report         print which shaders were rebuilt, kept and rejected, and why\n"
        "  --set KEY=VALUE  any other setting; 'belfry settings' lists them\n"
        "  --above LAYER    switch on LAYER too, with Belfry above it: LAYER sees what Belfry\n"
        "                   makes of the program's calls\n"
        "  --below LAYER    switch on LAYER too, with Belfry below it: LAYER sees the program's\n"
        "                   calls and Belfry's queues. Both may be repeated, not mixed\n\n"
        "Other layers and settings in the environment stay. Layers in VK_INSTANCE_LAYERS come\n"
        "below Belfry, with --below above it. 'queues' in a settings file doesn't count here.\n\n"
        "What is left when the program has ended: FILE; without --trace, or with\n"
        "specialize=exact, also what was learnt about shaders, in the folder of the setting\n"
        "'cache' (by default 'belfry' in the user's cache folder), to be deleted at will;\n"
        "nothing else.\n\n"
        "A program that ends without having created a device says so in one line if it was to be\n"
        "traced or reported on. One that never uses Vulkan can't; where stderr is a terminal, a\n"
        "process that waits for its end says for it that there is no trace.\n\n"
        "Exits with what the program exits with; with 127 if there is no such program, 126 if\n"
        "it can't be run, 2 if an option is wrong (FILE is something else than a trace, for\n"
        "instance), 1 if the layer isn't where it belongs.\n",
    .main = run_main,
};
