/* SPDX-License-Identifier: MIT */
/* Every command of which the table (layer/registry/commands.csv) says that the layer may stand in
 * for it: asked for of instance and device, and called, by programs of Vulkan 1.0 and 1.3 that
 * enable none of its extensions, or one. A name has a function under the layer where it has one
 * without; and where a call ends without the layer, it ends with it, and with the same VkResult.
 * Above all, no stand-in calls NULL: the loader answers for some commands whose extension nobody
 * has enabled.
 *
 * Calls are made in children, with the program's objects, zeroed structs, and zeros.
 *
 * Usage: belfry-layer-sweep layer/registry/commands.csv */
#include "support/world.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "registry.h"
#include "table.h"
#include "support/infos.h"

#define LAYER      "VK_LAYER_BELFRY_multi_engine"
#define NAMES_MAX  512
#define EXTENSIONS 128
#define WAYS       2 /* of the instance, of the device */

/* In the order of how bad it is. FAULTED: a zeroed struct lacks pointers that Vulkan requires, and
 * what copies it may follow them. */
enum outcome { UNASKED, ABSENT, PRESENT, RETURNED, FAULTED, STUCK, CALLED_NULL };
static const char *const words[] = {"unasked",  "absent",     "present",     "returning",
                                    "faulting", "not ending", "calling NULL"};

static struct {
    const struct table_row *row;
    char name[96], providers[192];
    bool has_result; /* the registry of this machine says so */
    enum outcome plain[WAYS];
    int32_t plain_result[WAYS];
} names[NAMES_MAX];
static uint32_t name_count;
static char extensions[EXTENSIONS][96];
static uint32_t extension_count;

static bool is_known(const char *extension)
{
    for (uint32_t i = 0; i < extension_count; i++)
        if (strcmp(extensions[i], extension) == 0)
            return true;
    return false;
}

/* The names of commands with a stand-in, and the extensions that provide them. */
static void names_collect(void)
{
    for (uint32_t i = 0; i < table_count; i++) {
        const struct table_row *row = &table_rows[i];
        bool stands_in = false;
        for (enum table_column c = LOADER; c <= SPECIALIZE; c++)
            stands_in |= table_has(row, c);
        char copy[1024], *rest = copy, *name;
        snprintf(copy, sizeof(copy), "%s", row->columns[NAMES]);
        while (stands_in && (name = strsep(&rest, " "))) {
            char *providers = strchr(name, ':');
            *providers++ = '\0';
            assert_true(name_count < NAMES_MAX);
            names[name_count].row = row;
            snprintf(names[name_count].name, sizeof(names[0].name), "%s", name);
            snprintf(names[name_count++].providers, sizeof(names[0].providers), "%s", providers);
            for (char *word; (word = strsep(&providers, "|+()"));) {
                if (strncmp(word, "VK_VERSION", 10) == 0 || !*word || is_known(word))
                    continue;
                assert_true(extension_count < EXTENSIONS);
                snprintf(extensions[extension_count++], sizeof(extensions[0]), "%s", word);
            }
        }
    }
}

/* Programs ------------------------------------------------------------------------------------ */

struct program {
    VkInstance instance;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkCommandBuffer commands;
    bool hollow; /* the extension's commands are whatever the test driver has no function for */
};

static bool lists(const VkExtensionProperties *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; name && i < count; i++)
        if (strcmp(list[i].extensionName, name) == 0)
            return true;
    return false;
}

#define OF_INSTANCE(p, command) ((PFN_##command)vkGetInstanceProcAddr((p)->instance, #command))

static void program_close(struct program *p)
{
    if (p->device) {
        PFN_vkGetDeviceProcAddr get = OF_INSTANCE(p, vkGetDeviceProcAddr);
        ((PFN_vkDestroyCommandPool)get(p->device, "vkDestroyCommandPool"))(p->device, p->pool,
                                                                           NULL);
        ((PFN_vkDestroyDevice)get(p->device, "vkDestroyDevice"))(p->device, NULL);
    }
    if (p->instance)
        OF_INSTANCE(p, vkDestroyInstance)(p->instance, NULL);
}

/* False: not with that extension, of instance or device, on this driver. The test driver has every
 * device extension: those that it doesn't know have commands that do nothing (BELFRY_ICD_HOLLOW),
 * and it takes any name for one of them. */
static bool program_open(struct program *p, bool layer, uint32_t version, const char *extension)
{
    static VkExtensionProperties list[512];
    uint32_t count = 512;
    *p = (struct program){0};
    assert_success(vkEnumerateInstanceExtensionProperties(NULL, &count, list));
    bool of_instance = lists(list, count, extension);
    setenv("BELFRY_ICD_HOLLOW", extension && !of_instance ? extension : "", 1);
    const char *const wanted[] = {extension, VK_KHR_SURFACE_EXTENSION_NAME};
    const char *const layers[] = {LAYER};
    const VkApplicationInfo application = {VK_TYPE(APPLICATION_INFO), .apiVersion = version};
    const VkInstanceCreateInfo info = {VK_TYPE(INSTANCE_CREATE_INFO),
                                       .pApplicationInfo = &application,
                                       .enabledLayerCount = layer,
                                       .ppEnabledLayerNames = layers,
                                       .enabledExtensionCount =
                                           of_instance ? 1 + !!strstr(extension, "_surface") : 0,
                                       .ppEnabledExtensionNames = wanted};
    assert_success(vkCreateInstance(&info, NULL, &p->instance));
    count = 1;
    assert_true(OF_INSTANCE(p, vkEnumeratePhysicalDevices)(p->instance, &count, &p->physical) >= 0);
    count = 512;
    assert_success(
        OF_INSTANCE(p, vkEnumerateDeviceExtensionProperties)(p->physical, NULL, &count, list));
    bool of_device = lists(list, count, extension);
    const VkDeviceCreateInfo device = info_device(NULL, of_device, &extension);
    if ((extension && !of_instance && !of_device) ||
        OF_INSTANCE(p, vkCreateDevice)(p->physical, &device, NULL, &p->device) != VK_SUCCESS) {
        program_close(p);
        return false;
    }
    PFN_vkGetDeviceProcAddr get = OF_INSTANCE(p, vkGetDeviceProcAddr);
    p->hollow = get(p->device, "vkOfNoExtension") != NULL;
    ((PFN_vkGetDeviceQueue)get(p->device, "vkGetDeviceQueue"))(p->device, 0, 0, &p->queue);
    const VkCommandPoolCreateInfo pool = {VK_TYPE(COMMAND_POOL_CREATE_INFO)};
    assert_success(((PFN_vkCreateCommandPool)get(p->device, "vkCreateCommandPool"))(
        p->device, &pool, NULL, &p->pool));
    const VkCommandBufferAllocateInfo buffer = {VK_TYPE(COMMAND_BUFFER_ALLOCATE_INFO),
                                                .commandPool = p->pool, .commandBufferCount = 1};
    assert_success(((PFN_vkAllocateCommandBuffers)get(p->device, "vkAllocateCommandBuffers"))(
        p->device, &buffer, &p->commands));
    return true;
}

/* Calls --------------------------------------------------------------------------------------- */

static char zeros[1 << 20];
static int32_t *returned; /* by the last call; shared with the child that makes it */

/* Whoever makes a call lacks the other threads. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

/* What a child says by its exit status. */
#define SAID(outcome) (100 + (outcome))

static void *first_argument(const struct program *p, const char *handle)
{
    return strcmp(handle, "VkInstance") == 0         ? (void *)p->instance
           : strcmp(handle, "VkPhysicalDevice") == 0 ? (void *)p->physical
           : strcmp(handle, "VkDevice") == 0         ? (void *)p->device
           : strcmp(handle, "VkQueue") == 0          ? (void *)p->queue
           : strcmp(handle, "VkCommandBuffer") == 0  ? (void *)p->commands
                                                     : zeros;
}

static void fault(int signal, siginfo_t *info, void *context)
{
    const ucontext_t *at = context;
#ifdef __x86_64__
    _exit(at->uc_mcontext.gregs[REG_RIP] == 0 ? SAID(CALLED_NULL) : SAID(FAULTED));
#else
    _exit(at->uc_mcontext.pc == 0 ? SAID(CALLED_NULL) : SAID(FAULTED));
#endif
}

static void child(PFN_vkVoidFunction function, void *first, const char *parameters,
                  const struct timeval *time)
{
    uint64_t a[16] = {(uintptr_t)first};
    for (uint32_t i = 0; i < 15 && parameters[i]; i++)
        a[i + 1] = parameters[i] == 'p' ? (uintptr_t)zeros : 0;
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    if (!freopen("/dev/null", "w", stderr))
        _exit(SAID(FAULTED));
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = *time}, NULL);
    /* In C's calling conventions the caller removes the arguments: too many are harmless. */
    *returned = (int32_t)((uint64_t(VKAPI_PTR *)(
        uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
        uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t))function)(
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13],
        a[14], a[15]);
    _exit(SAID(RETURNED));
}

/* A child lacks the driver's threads: what waits for one never ends. What didn't end without the
 * layer in a tenth of a second may take long with it. */
static enum outcome call(const struct program *p, const struct table_row *row,
                         PFN_vkVoidFunction function, bool ends)
{
    const struct timeval time = {ends ? 30 : 0, ends ? 0 : 100000};
    *returned = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        child(function, first_argument(p, row->columns[HANDLE]), row->columns[PARAMETERS], &time);
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? STUCK : FAULTED;
    int said = WEXITSTATUS(status); /* or a sanitizer has ended it */
    return said > SAID(0) ? (enum outcome)(said - SAID(0)) : FAULTED;
}

static bool provides(const char *providers, const char *extension)
{
    const char *at = strstr(providers, extension);
    return at && !strchr("_0123456789abcdefghijklmnopqrstuvwxyz", at[strlen(extension)] | 32);
}

/* What a name is and does; it is called in the programs that enable what provides it, and in those
 * that enable nothing. */
static enum outcome outcome_of(const struct program *p, uint32_t i, uint32_t way,
                               const char *extension, bool layer)
{
    PFN_vkVoidFunction function = NULL;
    if (way == 0)
        function = vkGetInstanceProcAddr(p->instance, names[i].name);
    else
        function = OF_INSTANCE(p, vkGetDeviceProcAddr)(p->device, names[i].name);
    if (p->hollow && !provides(names[i].providers, extension))
        return UNASKED;
    if (!function)
        return ABSENT;
    if (extension && !provides(names[i].providers, extension))
        return PRESENT;
    return call(p, names[i].row, function, layer && names[i].plain[way] != STUCK);
}

/* The layer is among the tools and layers that are listed; a bind of nothing is none of the
 * driver's; and no fence is imported into where there is none. */
static bool result_may_differ(const char *name)
{
    return strcmp(name, "vkEnumerateDeviceLayerProperties") == 0 ||
           strncmp(name, "vkGetPhysicalDeviceToolProperties", 33) == 0 ||
           strcmp(name, "vkQueueBindSparse") == 0 || strcmp(name, "vkImportFenceFdKHR") == 0;
}

static uint32_t sweep(uint32_t version, const char *extension)
{
    uint32_t faults = 0, calls = 0;
    for (int layer = 0; layer < 2; layer++) {
        struct program p;
        if (!program_open(&p, layer, version, extension)) {
            print_message("Vulkan 1.%u: %s is %s\n", VK_API_VERSION_MINOR(version), extension,
                          layer ? "hidden" : "not there");
            return 0;
        }
        for (uint32_t i = 0; i < name_count * WAYS; i++) {
            uint32_t n = i / WAYS, way = i % WAYS;
            enum outcome outcome = outcome_of(&p, n, way, extension, layer),
                         *plain = &names[n].plain[way];
            calls += outcome >= RETURNED;
            if (!layer) {
                *plain = outcome;
                names[n].plain_result[way] = *returned;
                continue;
            }
            if (outcome == RETURNED && *plain == RETURNED && names[n].has_result &&
                *returned != names[n].plain_result[way]) {
                faults++;
                print_error("Vulkan 1.%u, %s: %s of the %s returns %d, without the layer %d\n",
                            VK_API_VERSION_MINOR(version), extension ? extension : "no extension",
                            names[n].name, way ? "device" : "instance", *returned,
                            names[n].plain_result[way]);
            }
            /* The layer enables this one on every instance: layer/instance.c. */
            if (*plain == ABSENT &&
                provides(names[n].providers,
                         VK_KHR_GET_PHYSICAL_DEVICE_PROPERTIES_2_EXTENSION_NAME))
                continue;
            if ((*plain == ABSENT) == (outcome == ABSENT) &&
                (outcome <= *plain || outcome == FAULTED))
                continue;
            faults++;
            print_error("Vulkan 1.%u, %s: %s of the %s is %s, without the layer %s\n",
                        VK_API_VERSION_MINOR(version), extension ? extension : "no extension",
                        names[n].name, way ? "device" : "instance", words[outcome], words[*plain]);
        }
        program_close(&p);
    }
    print_message("Vulkan 1.%u, %s: %u calls\n", VK_API_VERSION_MINOR(version),
                  extension ? extension : "no extension", calls);
    return faults;
}

TEST(test_sweep)
{
    static const uint32_t versions[] = {VK_API_VERSION_1_0, VK_API_VERSION_1_3};
    uint32_t faults = 0;
    assert_success(volkInitialize());
    returned =
        mmap(NULL, sizeof(*returned), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(returned, MAP_FAILED);
    for (uint32_t v = 0; v < 2; v++) {
        faults += sweep(versions[v], NULL);
        for (uint32_t e = 0; e < extension_count; e++)
            faults += sweep(versions[v], extensions[e]);
    }
    assert_int_equal(faults, 0);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return EXIT_FAILURE;
    table_read(argv[1]);
    names_collect();
    struct registry registry;
    if (registry_read(&registry)) {
        for (uint32_t i = 0; i < name_count; i++) {
            const struct registry_command *command = registry_find(&registry, names[i].name);
            names[i].has_result =
                command && command->has_result && !result_may_differ(names[i].name);
        }
        registry_free(&registry);
    }
    return test_run(NULL);
}
