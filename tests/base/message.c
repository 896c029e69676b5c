/* SPDX-License-Identifier: MIT */
/* Messages: to stderr, or to the program's callback (bfSetMessageCallback), which is not called any
 * more once another one has been set. */
#include "support/test.h"

#include "base/message.h"

struct heard {
    uint32_t count;
    BfMessageSeverity severity;
    char text[1200];
};

static void hear(BfMessageSeverity severity, const char *text, void *data)
{
    struct heard *heard = data;
    heard->count++;
    heard->severity = severity;
    snprintf(heard->text, sizeof(heard->text), "%s", text);
}

static struct {
    int saved, pipe[2];
} standard_error;

static void error_catch(void)
{
    fflush(stderr);
    standard_error.saved = dup(STDERR_FILENO);
    assert_int_equal(pipe(standard_error.pipe), 0);
    dup2(standard_error.pipe[1], STDERR_FILENO);
    close(standard_error.pipe[1]);
}

/* What came meanwhile. */
static void error_release(char *text, size_t size)
{
    dup2(standard_error.saved, STDERR_FILENO);
    close(standard_error.saved);
    size_t length = 0;
    ssize_t n;
    while (length + 1 < size &&
           (n = read(standard_error.pipe[0], text + length, size - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    close(standard_error.pipe[0]);
}

TEST(a_line_on_stderr_until_there_is_a_callback_and_after_it)
{
    struct heard heard = {0};
    char text[256];
    error_catch();
    bf_message(BF_MESSAGE_WARNING, "number %d", 1);
    assert_int_equal(bfSetMessageCallback(hear, &heard), VK_SUCCESS);
    bf_message(BF_MESSAGE_ERROR, "number %d", 2);
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    bf_message(BF_MESSAGE_ERROR, "number %d", 3);
    error_release(text, sizeof(text));
    assert_string_equal(text, "belfry: number 1\nbelfry: number 3\n");
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.severity, BF_MESSAGE_SEVERITY_ERROR);
    assert_string_equal(heard.text, "number 2");
}

TEST(the_level_counts_for_the_callback_too)
{
    struct heard heard = {0};
    assert_int_equal(bfSetMessageCallback(hear, &heard), VK_SUCCESS);
    bf_message(BF_MESSAGE_INFO, "dropped");
    assert_int_equal(heard.count, 0);
    bf_message_set_level(BF_MESSAGE_INFO);
    bf_message(BF_MESSAGE_INFO, "heard");
    assert_int_equal(heard.severity, BF_MESSAGE_SEVERITY_INFO);
    bf_message_set_level(BF_MESSAGE_NONE);
    bf_message(BF_MESSAGE_ERROR, "dropped");
    bf_message_set_level(BF_MESSAGE_WARNING);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.text, "heard");
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
}

TEST(a_long_message_is_cut_off)
{
    struct heard heard = {0};
    char text[2000], shown[2000];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(bfSetMessageCallback(hear, &heard), VK_SUCCESS);
    bf_message(BF_MESSAGE_ERROR, "%s", text);
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    error_catch();
    bf_message(BF_MESSAGE_ERROR, "%s", text);
    error_release(shown, sizeof(shown));
    assert_int_equal(strlen(heard.text), 1014);
    assert_int_equal(strlen(shown), 8 + 1014 + 1);
    assert_int_equal(shown[8 + 1014], '\n');
}

/* Instead of calling itself without end, or waiting for itself. */
static void call_again(BfMessageSeverity severity, const char *text, void *data)
{
    bf_message(BF_MESSAGE_ERROR, "from the callback");
    *(VkResult *)data = bfSetMessageCallback(NULL, NULL);
}

TEST(what_a_callback_says_goes_to_stderr)
{
    char text[256];
    VkResult result = VK_SUCCESS;
    error_catch();
    assert_int_equal(bfSetMessageCallback(call_again, &result), VK_SUCCESS);
    bf_message(BF_MESSAGE_ERROR, "to the callback");
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    error_release(text, sizeof(text));
    assert_string_equal(text, "belfry: from the callback\n"
                              "belfry: bfSetMessageCallback: called by the callback\n");
    assert_int_equal(result, VK_ERROR_VALIDATION_FAILED_EXT);
}

/* ----------------------------------------------------------------------------------- Threads -- */

#define THREADS 4
#define ROUNDS  300

struct owner {
    _Atomic bool gone;
    _Atomic uint32_t inside, late;
};

static _Atomic bool stop;
static _Atomic uint64_t heard_in_all;

static void count_late(BfMessageSeverity severity, const char *text, void *data)
{
    struct owner *owner = data;
    atomic_fetch_add(&owner->inside, 1);
    usleep(20);
    atomic_fetch_add(&heard_in_all, 1);
    if (atomic_load(&owner->gone))
        atomic_fetch_add(&owner->late, 1);
    atomic_fetch_sub(&owner->inside, 1);
}

static void *say(void *argument)
{
    while (!atomic_load(&stop))
        bf_message(BF_MESSAGE_ERROR, "one of many");
    return NULL;
}

/* Two threads set callbacks, while others say something all the time. */
static void *set(void *argument)
{
    struct owner *owners = argument;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct owner *owner = &owners[i % 2];
        atomic_store(&owner->gone, false);
        bfSetMessageCallback(count_late, owner);
        usleep(50);
        /* Another thread may have set its own meanwhile: this sets a third, so that neither of this
         * thread's is called hereafter. */
        static struct owner nobody;
        bfSetMessageCallback(count_late, &nobody);
        atomic_store(&owner->gone, true);
        atomic_fetch_add(&owner->late, atomic_load(&owner->inside));
    }
    return NULL;
}

TEST(a_callback_that_was_replaced_is_not_running_any_more)
{
    static struct owner owners[2][2];
    pthread_t talkers[THREADS], setters[2];
    assert_int_equal(bfSetMessageCallback(count_late, &owners[0][0]), VK_SUCCESS);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&talkers[i], NULL, say, NULL), 0);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&setters[i], NULL, set, owners[i]), 0);
    for (uint32_t i = 0; i < 2; i++)
        pthread_join(setters[i], NULL);
    atomic_store(&stop, true);
    for (uint32_t i = 0; i < THREADS; i++)
        pthread_join(talkers[i], NULL);
    assert_int_equal(bfSetMessageCallback(NULL, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(atomic_load(&owners[i / 2][i % 2].late), 0);
    assert_true(atomic_load(&heard_in_all) > 0);
}
