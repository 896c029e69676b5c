/* SPDX-License-Identifier: MIT */
/* Labels when memory runs out (scheduler/label.h): one that can't be kept is left out with its end,
 * and those around it stay as they are; nothing is lost or freed twice. The engine below is the
 * test's own. */
#include "support/test.h"

#include "scheduler/driver.h"
#include "scheduler/scheduler.h"
#include "scheduler/label.h"

void *__real_malloc(size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void __wrap_free(void *memory);

static int until_failure = -1; /* -1: never; the allocations after the one that fails succeed */
static int balance;

void *__wrap_malloc(size_t size)
{
    if (until_failure >= 0 && until_failure-- == 0)
        return NULL;
    balance++;
    return __real_malloc(size);
}

void __wrap_free(void *memory)
{
    balance -= memory != NULL;
    __real_free(memory);
}

bool bf_engine_enter(struct bf_engine *engine)
{
    bf_lock_acquire(&engine->lock);
    return true;
}

void bf_engine_leave(struct bf_engine *engine, uint64_t mask)
{
    bf_lock_release(&engine->lock);
}

bool bf_driver_await_presents(struct bf_engine *engine)
{
    return true;
}

/* What the driver is told: "+a -a !x". */
static char told[256];

static void VKAPI_CALL drv_begin(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof(told) - n, "+%s ", label->pLabelName);
}

static void VKAPI_CALL drv_end(VkQueue queue)
{
    strncat(told, "- ", sizeof(told) - strlen(told) - 1);
}

static void VKAPI_CALL drv_insert(VkQueue queue, const VkDebugUtilsLabelEXT *label)
{
    size_t n = strlen(told);
    snprintf(told + n, sizeof(told) - n, "!%s ", label->pLabelName);
}

static struct bf_scheduler scheduler;
static struct bf_engine engine;
static struct bf_queue queue;

static void set_up(void)
{
    scheduler = (struct bf_scheduler){.label_calls = {drv_begin, drv_end, drv_insert}};
    engine = (struct bf_engine){.scheduler = &scheduler};
    queue = (struct bf_queue){.scheduler = &scheduler, .engine = &engine};
    told[0] = '\0';
    balance = 0;
}

static void tear_down(void)
{
    bf_label_release(queue.labels);
    bf_label_release(engine.labels);
    assert_int_equal(balance, 0);
    until_failure = -1;
}

static void begin(const char *name)
{
    bf_label_begin(&queue,
                   &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = name});
}

static void insert(const char *name)
{
    bf_label_insert(&queue,
                    &(VkDebugUtilsLabelEXT){VK_TYPE(DEBUG_UTILS_LABEL_EXT), .pLabelName = name});
}

static void end(void)
{
    bf_label_end(&queue);
}

/* a ( b ( c ) d ) e, with each begin failing in turn. */
TEST(test_a_begin_without_memory)
{
    static const char *const expected[] = {
        "!1 +e - !2 ",           /* a is left out, and all within it */
        "+a !1 +d - - +e - !2 ", /* b, and c in it */
        "+a +b - !1 +d - - +e - !2 ",
        "+a +b +c - - !1 - +e - !2 ",
        "+a +b +c - - !1 +d - - !2 ",
        "+a +b +c - - !1 +d - - +e - !2 ",
    };
    for (int n = 0; n < 6; n++) {
        set_up();
        until_failure = n;
        begin("a");
        begin("b");
        begin("c");
        end();
        end();
        insert("1");
        begin("d");
        end();
        end();
        begin("e");
        end();
        insert("2");
        end(); /* one too many */
        assert_int_equal(queue.labels_lost, 0);
        assert_null(queue.labels);
        assert_null(engine.labels);
        if (strcmp(told, expected[n]) != 0)
            fail_msg("expected: %s, told: %s", expected[n], told);
        tear_down();
    }
}

/* Behind held packets: an insert that can't be kept is left out, the next isn't. */
TEST(test_an_insert_without_memory)
{
    set_up();
    struct bf_packet packet = {0};
    begin("o");
    queue.head = queue.tail = &packet;
    bf_label_attach(&queue, &packet);
    atomic_store(&queue.appended, 1);
    begin("a");
    until_failure = 0;
    insert("x");
    insert("y");
    end();
    insert("z");
    end();
    assert_string_equal(told, "+o ");
    /* The packet goes. */
    queue.head = queue.tail = NULL;
    bf_label_enter(&engine, packet.labels);
    bf_label_passed(&engine, &queue, &packet);
    atomic_store(&queue.finished, 1);
    assert_string_equal(told, "+o +a !y - !z - ");
    assert_null(engine.labels);
    bf_label_drop(&packet);
    tear_down();
}
