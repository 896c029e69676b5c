/* SPDX-License-Identifier: MIT */
/* Random programs: made as a tree, written as assembly, and interpreted. */
#include "program.h"

#include <stdarg.h>

#define NODES     800
#define TEXT      262144
#define ARRAY     8
#define COUNTERS  4 /* loops in one another that count */
#define FUNCTIONS 3 /* the last is main; each may call those before it */

enum kind {
    /* Expressions. */
    NUMBER,
    ME,
    PUSH,
    VARIABLE,
    COUNTER,
    ELEMENT,
    GIVEN,
    CALL,
    ADD,
    SUB,
    MUL,
    XOR,
    AND,
    OR,
    SHIFT,
    DIVIDE,
    CHOOSE,
    /* Conditions, of two expressions. */
    LESS,
    EQUAL,
    UNEQUAL,
    /* Statements; 'next' is the one behind. */
    SET,
    PUT,
    IF,
    SWITCH,
    COUNT,
    WHILE,
    REPEAT,
    REPEAT_UNTIL,
    TIGHT,
    FOREVER,
    BREAK,
    CONTINUE,
    RETURN,
};

struct node {
    enum kind kind;
    uint32_t value;
    struct node *kids[4], *next;
};

struct program {
    struct node nodes[NODES], *bodies[FUNCTIONS];
    uint32_t node_count;
    uint64_t state;
    char *text;
    size_t size;
    uint32_t id;
};

/* ------------------------------------------------------------------------------------ Making -- */

static uint32_t draw(struct program *p, uint32_t below)
{
    p->state ^= p->state << 13;
    p->state ^= p->state >> 7;
    p->state ^= p->state << 17;
    return (uint32_t)((p->state >> 20) % below);
}

static struct node *node(struct program *p, enum kind kind, uint32_t value, struct node *a,
                         struct node *b)
{
    if (p->node_count == NODES)
        abort(); /* the makers stop long before */
    struct node *n = &p->nodes[p->node_count++];
    *n = (struct node){kind, value, {a, b}, NULL};
    return n;
}

static bool is_full(const struct program *p)
{
    return p->node_count > NODES / 2;
}

struct place {
    uint32_t function, depth, loops, counters;
};

static struct node *expression(struct program *p, const struct place *at, uint32_t depth);

/* Draws are in statements of their own: arguments are evaluated in an order that is the
 * compiler's. */
static struct node *of_two(struct program *p, enum kind kind, uint32_t value,
                           const struct place *at, uint32_t depth)
{
    struct node *a = expression(p, at, depth);
    struct node *b = expression(p, at, depth);
    return node(p, kind, value, a, b);
}

static struct node *set_variable(struct program *p, const struct place *at, uint32_t depth)
{
    uint32_t variable = draw(p, PROGRAM_VARIABLES);
    return node(p, SET, variable, expression(p, at, depth), NULL);
}

/* Mostly below the limit, a power of two. */
static struct node *index_below(struct program *p, const struct place *at, uint32_t limit)
{
    uint32_t mask = draw(p, 8) ? limit - 1 : 2 * limit - 1;
    return node(p, AND, 0, expression(p, at, 1), node(p, NUMBER, mask, NULL, NULL));
}

static struct node *expression(struct program *p, const struct place *at, uint32_t depth)
{
    uint32_t how = depth && !is_full(p) ? draw(p, 20) : draw(p, 8), value;
    enum kind kind;
    struct node *n;
    switch (how) {
    case 0:
    case 1:
        return node(p, NUMBER, draw(p, 3) ? draw(p, 20) : draw(p, UINT32_MAX), NULL, NULL);
    case 2:
        return node(p, ME, 0, NULL, NULL);
    case 3:
        return node(p, PUSH, draw(p, 4), NULL, NULL);
    case 4:
        return at->counters ? node(p, COUNTER, draw(p, at->counters), NULL, NULL)
                            : node(p, ME, 0, NULL, NULL);
    case 8:
        return node(p, ELEMENT, 0, index_below(p, at, ARRAY), NULL);
    case 9:
        return node(p, GIVEN, 0, index_below(p, at, 256), NULL);
    case 10:
        if (!at->function)
            return node(p, ME, 0, NULL, NULL);
        value = draw(p, at->function);
        return of_two(p, CALL, value, at, depth - 1);
    case 11:
        n = of_two(p, CHOOSE, 0, at, depth - 1);
        n->kids[2] = of_two(p, LESS, 0, at, depth - 1);
        return n;
    default:
        if (how < 8)
            return node(p, VARIABLE, draw(p, PROGRAM_VARIABLES), NULL, NULL);
        kind = draw(p, 12) ? ADD + draw(p, SHIFT - ADD + 1) : DIVIDE;
        value = 1 + draw(p, 30);
        return of_two(p, kind, value, at, depth - 1);
    }
}

static struct node *condition(struct program *p, const struct place *at)
{
    struct node *a = expression(p, at, 2);
    struct node *b = expression(p, at, 1);
    /* Small numbers are equal now and then. */
    if (draw(p, 2))
        a = node(p, AND, 0, a, node(p, NUMBER, (4u << draw(p, 3)) - 1, NULL, NULL));
    enum kind kind = LESS + draw(p, 3);
    return node(p, kind, 0, a, b);
}

static struct node *block(struct program *p, struct place at, uint32_t most);

static struct node *statement(struct program *p, const struct place *at)
{
    struct place inside = *at, loop = *at;
    enum kind kind;
    uint32_t mask;
    struct node *n;
    inside.depth++;
    loop.depth++;
    loop.loops++;
    switch (at->depth < 5 && !is_full(p) ? draw(p, 18) : draw(p, 6)) {
    case 4:
    case 5:
        n = node(p, PUT, 0, index_below(p, at, ARRAY), NULL);
        n->kids[1] = expression(p, at, 2);
        return n;
    case 6:
    case 7:
    case 8:
        n = node(p, IF, 0, condition(p, at), NULL);
        n->kids[1] = block(p, inside, 3);
        n->kids[2] = draw(p, 2) ? block(p, inside, 3) : NULL;
        return n;
    case 9:
        n = node(p, SWITCH, 0, expression(p, at, 2), NULL);
        for (uint32_t i = 1; i < 4; i++)
            n->kids[i] = block(p, inside, 2);
        return n;
    case 10:
    case 11:
    case 12:
    case 13:
        if (at->counters == COUNTERS)
            break;
        mask = draw(p, 40) ? (2u << draw(p, 3)) - 1 : UINT32_MAX;
        n = node(p, AND, 0, expression(p, at, 1), node(p, NUMBER, mask, NULL, NULL));
        n = node(p, COUNT, at->counters, n, NULL);
        loop.counters++;
        n->kids[1] = block(p, loop, 4);
        return n;
    case 14:
        kind = WHILE + draw(p, 4);
        n = node(p, kind, 0, condition(p, at), NULL);
        n->kids[1] = kind == TIGHT ? set_variable(p, at, 2) : block(p, loop, 3);
        return n;
    case 15:
        n = node(p, FOREVER, 0, NULL, NULL);
        n->kids[1] = block(p, loop, 3);
        n->kids[0] = draw(p, 8) ? condition(p, &loop) : NULL; /* a break of its own */
        return n;
    case 16:
        n = node(p, IF, 0, condition(p, at), NULL);
        n->kids[1] = node(p, at->loops ? BREAK + draw(p, 3) : RETURN, 0, NULL, NULL);
        if (n->kids[1]->kind == RETURN)
            n->kids[1]->kids[0] = expression(p, at, 1);
        return n;
    default:
        break;
    }
    return set_variable(p, at, 3);
}

static struct node *block(struct program *p, struct place at, uint32_t most)
{
    struct node *first = NULL, **end = &first;
    for (uint32_t i = 1 + draw(p, most); i; i--) {
        *end = statement(p, &at);
        end = &(*end)->next;
    }
    return first;
}

struct program *program_make(uint64_t seed)
{
    struct program *p = calloc(1, sizeof(*p));
    p->state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    for (uint32_t i = 0; i < 8; i++)
        draw(p, 2);
    for (uint32_t f = 0; f < FUNCTIONS; f++) {
        /* Each has room, whatever those before it took. */
        bool last = f + 1 == FUNCTIONS;
        uint32_t before = p->node_count;
        p->bodies[f] = block(p, (struct place){.function = f, .depth = last ? 0 : 2}, last ? 6 : 3);
        if (p->node_count - before > NODES / 6 && !last) {
            p->bodies[f] = NULL;
            p->node_count = before;
        }
    }
    return p;
}

void program_free(struct program *program)
{
    free(program->text);
    free(program);
}

/* ----------------------------------------------------------------------------------- Writing -- */

static void __attribute__((format(printf, 2, 3))) put(struct program *p, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (p->size < TEXT)
        p->size += (size_t)vsnprintf(p->text + p->size, TEXT - p->size, format, list);
    va_end(list);
}

static uint32_t new_id(struct program *p)
{
    return ++p->id;
}

/* One result, of that type, whose operands are ids %N. */
static uint32_t value_put(struct program *p, const char *operation, uint32_t a, uint32_t b)
{
    uint32_t id = new_id(p);
    put(p, "%%%u = %s %%%u %%%u\n", id, operation, a, b);
    return id;
}

static uint32_t expression_put(struct program *p, const struct node *n)
{
    static const char *const operations[] = {
        [ADD] = "OpIAdd %uint",       [SUB] = "OpISub %uint",       [MUL] = "OpIMul %uint",
        [XOR] = "OpBitwiseXor %uint", [AND] = "OpBitwiseAnd %uint", [OR] = "OpBitwiseOr %uint",
        [LESS] = "OpULessThan %bool", [EQUAL] = "OpIEqual %bool",   [UNEQUAL] = "OpINotEqual %bool",
        [DIVIDE] = "OpUDiv %uint"};
    uint32_t id, a = n->kids[0] ? expression_put(p, n->kids[0]) : 0,
                 b = n->kids[1] ? expression_put(p, n->kids[1]) : 0;
    switch (n->kind) {
    case NUMBER:
        id = new_id(p);
        put(p, "%%%u = OpCopyObject %%uint %%number_%u\n", id, n->value);
        return id;
    case ME:
        id = new_id(p);
        put(p, "%%%u = OpLoad %%uint %%me\n", id);
        return id;
    case PUSH:
        id = new_id(p);
        put(p, "%%%u = OpAccessChain %%push_uint %%push %%int_%u\n", id, n->value);
        break;
    case VARIABLE:
        id = new_id(p);
        put(p, "%%%u = OpLoad %%uint %%variable_%u\n", id, n->value);
        return id;
    case COUNTER:
        id = new_id(p);
        put(p, "%%%u = OpLoad %%uint %%counter_%u\n", id, n->value);
        return id;
    case ELEMENT:
        id = new_id(p);
        put(p, "%%%u = OpAccessChain %%function_uint %%array %%%u\n", id, a);
        break;
    case GIVEN:
        id = new_id(p);
        put(p, "%%%u = OpAccessChain %%storage_uint %%given %%int_0 %%%u\n", id, a);
        break;
    case CALL:
        id = new_id(p);
        put(p, "%%%u = OpFunctionCall %%uint %%function_%u %%%u %%%u\n", id, n->value, a, b);
        return id;
    case SHIFT:
        id = new_id(p);
        put(p, "%%%u = OpShiftRightLogical %%uint %%%u %%number_%u\n", id, a, n->value);
        return id;
    case CHOOSE: {
        uint32_t c = expression_put(p, n->kids[2]);
        id = new_id(p);
        put(p, "%%%u = OpSelect %%uint %%%u %%%u %%%u\n", id, c, a, b);
        return id;
    }
    default:
        return value_put(p, operations[n->kind], a, b);
    }
    put(p, "%%%u = OpLoad %%uint %%%u\n", new_id(p), id);
    return p->id;
}

static bool block_put(struct program *p, const struct node *n, uint32_t end, uint32_t next);

/* A block of its own, which goes on to 'after' unless it goes elsewhere. */
static void arm_put(struct program *p, uint32_t label, const struct node *n, uint32_t end,
                    uint32_t next, uint32_t after)
{
    put(p, "%%%u = OpLabel\n", label);
    if (block_put(p, n, end, next))
        put(p, "OpBranch %%%u\n", after);
}

static void loop_put(struct program *p, const struct node *n)
{
    uint32_t header = new_id(p), body = new_id(p), next = new_id(p), end = new_id(p),
             test = new_id(p), c;
    if (n->kind == COUNT)
        put(p, "OpStore %%counter_%u %%number_0\n", n->value);
    put(p, "OpBranch %%%u\n%%%u = OpLabel\n", header, header);
    switch (n->kind) {
    case TIGHT: /* one block */
        block_put(p, n->kids[1], 0, 0);
        c = expression_put(p, n->kids[0]);
        put(p, "OpLoopMerge %%%u %%%u None\nOpBranchConditional %%%u %%%u %%%u\n", end, header, c,
            header, end);
        break;
    case WHILE: /* tested in the header */
        c = expression_put(p, n->kids[0]);
        put(p, "OpLoopMerge %%%u %%%u None\nOpBranchConditional %%%u %%%u %%%u\n", end, next, c,
            body, end);
        arm_put(p, body, n->kids[1], end, next, next);
        put(p, "%%%u = OpLabel\nOpBranch %%%u\n", next, header);
        break;
    case COUNT: /* tested behind the header, as compilers write it */
        put(p, "OpLoopMerge %%%u %%%u None\nOpBranch %%%u\n%%%u = OpLabel\n", end, next, test,
            test);
        c = expression_put(p, n->kids[0]);
        put(p, "%%%u = OpLoad %%uint %%counter_%u\n", new_id(p), n->value);
        c = value_put(p, "OpULessThan %bool", p->id, c);
        put(p, "OpBranchConditional %%%u %%%u %%%u\n", c, body, end);
        arm_put(p, body, n->kids[1], end, next, next);
        put(p, "%%%u = OpLabel\n", next);
        put(p, "%%%u = OpLoad %%uint %%counter_%u\n", new_id(p), n->value);
        c = new_id(p);
        put(p, "%%%u = OpIAdd %%uint %%%u %%number_1\nOpStore %%counter_%u %%%u\nOpBranch %%%u\n",
            c, c - 1, n->value, c, header);
        break;
    case FOREVER:
        put(p, "OpLoopMerge %%%u %%%u None\nOpBranch %%%u\n", end, next, body);
        if (n->kids[0]) {
            put(p, "%%%u = OpLabel\n", body);
            c = expression_put(p, n->kids[0]);
            body = new_id(p);
            put(p, "OpBranchConditional %%%u %%%u %%%u\n", c, end, body);
        }
        arm_put(p, body, n->kids[1], end, next, next);
        put(p, "%%%u = OpLabel\nOpBranch %%%u\n", next, header);
        break;
    default: /* tested at its end, this way or that */
        put(p, "OpLoopMerge %%%u %%%u None\nOpBranch %%%u\n", end, next, body);
        arm_put(p, body, n->kids[1], end, next, next);
        put(p, "%%%u = OpLabel\n", next);
        c = expression_put(p, n->kids[0]);
        put(p, "OpBranchConditional %%%u %%%u %%%u\n", c, n->kind == REPEAT ? header : end,
            n->kind == REPEAT ? end : header);
        break;
    }
    put(p, "%%%u = OpLabel\n", end);
}

/* Whether what stands behind it is come to. */
static bool statement_put(struct program *p, const struct node *n, uint32_t end, uint32_t next)
{
    uint32_t value, labels[4] = {new_id(p), new_id(p), new_id(p), new_id(p)};
    switch (n->kind) {
    case SET:
        value = expression_put(p, n->kids[0]);
        put(p, "OpStore %%variable_%u %%%u\n", n->value, value);
        return true;
    case PUT:
        value = expression_put(p, n->kids[1]);
        labels[0] = expression_put(p, n->kids[0]);
        put(p, "%%%u = OpAccessChain %%function_uint %%array %%%u\n", labels[1], labels[0]);
        put(p, "OpStore %%%u %%%u\n", labels[1], value);
        return true;
    case IF:
        value = expression_put(p, n->kids[0]);
        put(p, "OpSelectionMerge %%%u None\nOpBranchConditional %%%u %%%u %%%u\n", labels[2], value,
            labels[0], n->kids[2] ? labels[1] : labels[2]);
        arm_put(p, labels[0], n->kids[1], end, next, labels[2]);
        if (n->kids[2])
            arm_put(p, labels[1], n->kids[2], end, next, labels[2]);
        put(p, "%%%u = OpLabel\n", labels[2]);
        return true;
    case SWITCH:
        value = expression_put(p, n->kids[0]);
        put(p, "OpSelectionMerge %%%u None\nOpSwitch %%%u %%%u 0 %%%u 1 %%%u\n", labels[3], value,
            labels[2], labels[0], labels[1]);
        for (uint32_t i = 0; i < 3; i++)
            arm_put(p, labels[i], n->kids[1 + i], end, next, labels[3]);
        put(p, "%%%u = OpLabel\n", labels[3]);
        return true;
    case BREAK:
    case CONTINUE:
        put(p, "OpBranch %%%u\n", n->kind == BREAK ? end : next);
        return false;
    case RETURN:
        value = expression_put(p, n->kids[0]);
        put(p, "OpReturnValue %%%u\n", value);
        return false;
    default:
        loop_put(p, n);
        return true;
    }
}

static bool block_put(struct program *p, const struct node *n, uint32_t end, uint32_t next)
{
    bool goes_on = true;
    for (; n && goes_on; n = n->next)
        goes_on = statement_put(p, n, end, next);
    return goes_on;
}

static void function_put(struct program *p, uint32_t f)
{
    put(p,
        "%%function_%u = OpFunction %%uint None %%callee\n%%a_%u = OpFunctionParameter %%uint\n"
        "%%b_%u = OpFunctionParameter %%uint\n%%begin_%u = OpLabel\n",
        f, f, f, f);
    size_t from = p->size;
    for (uint32_t v = 0; v < PROGRAM_VARIABLES; v++)
        put(p, "%%variable_%u = OpVariable %%function_uint Function %%number_%u\n", v, v);
    for (uint32_t c = 0; c < COUNTERS; c++)
        put(p, "%%counter_%u = OpVariable %%function_uint Function %%number_0\n", c);
    put(p, "%%array = OpVariable %%function_array Function %%zeros\n");
    put(p, "OpStore %%variable_0 %%a_%u\nOpStore %%variable_1 %%b_%u\n", f, f);
    block_put(p, p->bodies[f], 0, 0);
    uint32_t last = new_id(p);
    if (f + 1 == FUNCTIONS) {
        for (uint32_t v = 0; v < PROGRAM_VARIABLES; v++) {
            uint32_t value = new_id(p), me = new_id(p), row = new_id(p), index = new_id(p),
                     to = new_id(p);
            put(p, "%%%u = OpLoad %%uint %%variable_%u\n%%%u = OpLoad %%uint %%me\n", value, v, me);
            put(p, "%%%u = OpIMul %%uint %%%u %%number_4\n", row, me);
            put(p, "%%%u = OpIAdd %%uint %%%u %%number_%u\n", index, row, v);
            put(p, "%%%u = OpAccessChain %%storage_uint %%out %%int_0 %%%u\nOpStore %%%u %%%u\n",
                to, index, to, value);
        }
    }
    put(p, "%%%u = OpLoad %%uint %%variable_3\nOpReturnValue %%%u\nOpFunctionEnd\n", last, last);
    /* Names are a function's own. */
    static const char *const names[] = {"%variable_", "%counter_", "%array"};
    for (uint32_t i = 0; i < 3; i++)
        for (char *at = p->text + from; (at = strstr(at, names[i]));)
            memcpy(at++, (char[]){'%', (char)('x' + f)}, 2);
}

static int number_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

const char *program_text(struct program *p)
{
    uint32_t numbers[NODES + 6] = {0, 1, 2, 3, 4, 8}, count = 6;
    p->text = calloc(1, TEXT + 1);
    for (uint32_t i = 0; i < p->node_count; i++)
        if (p->nodes[i].kind == NUMBER || p->nodes[i].kind == SHIFT)
            numbers[count++] = p->nodes[i].value;
    qsort(numbers, count, sizeof(*numbers), number_compare);
    put(p, "OpCapability Shader\n"
           "OpMemoryModel Logical GLSL450\n"
           "OpEntryPoint GLCompute %%main \"main\" %%me %%out %%given %%push\nOpExecutionMode "
           "%%main LocalSize 32 1 1\n"
           "OpDecorate %%me BuiltIn LocalInvocationIndex\n"
           "OpDecorate %%words ArrayStride 4\nOpDecorate %%block Block\n"
           "OpMemberDecorate %%block 0 Offset 0\nOpDecorate %%constants Block\n"
           "OpDecorate %%out DescriptorSet 0\nOpDecorate %%out Binding 0\n"
           "OpDecorate %%given DescriptorSet 0\nOpDecorate %%given Binding 2\n"
           "OpDecorate %%given NonWritable\n");
    for (uint32_t i = 0; i < 4; i++)
        put(p, "OpMemberDecorate %%constants %u Offset %u\n", i, 4 * i);
    put(p, "%%void = OpTypeVoid\n%%nothing = OpTypeFunction %%void\n%%bool = OpTypeBool\n"
           "%%uint = OpTypeInt 32 0\n%%int = OpTypeInt 32 1\n"
           "%%callee = OpTypeFunction %%uint %%uint %%uint\n"
           "%%input_uint = OpTypePointer Input %%uint\n%%me = OpVariable %%input_uint Input\n"
           "%%words = OpTypeRuntimeArray %%uint\n%%block = OpTypeStruct %%words\n"
           "%%storage_block = OpTypePointer StorageBuffer %%block\n"
           "%%storage_uint = OpTypePointer StorageBuffer %%uint\n"
           "%%out = OpVariable %%storage_block StorageBuffer\n"
           "%%given = OpVariable %%storage_block StorageBuffer\n"
           "%%constants = OpTypeStruct %%uint %%uint %%uint %%uint\n"
           "%%push_constants = OpTypePointer PushConstant %%constants\n"
           "%%push_uint = OpTypePointer PushConstant %%uint\n"
           "%%push = OpVariable %%push_constants PushConstant\n"
           "%%function_uint = OpTypePointer Function %%uint\n");
    for (uint32_t i = 0; i < 4; i++)
        put(p, "%%int_%u = OpConstant %%int %u\n", i, i);
    for (uint32_t i = 0; i < count; i++)
        if (!i || numbers[i] != numbers[i - 1])
            put(p, "%%number_%u = OpConstant %%uint %u\n", numbers[i], numbers[i]);
    put(p, "%%uints = OpTypeArray %%uint %%number_8\n%%zeros = OpConstantNull %%uints\n"
           "%%function_array = OpTypePointer Function %%uints\n");
    for (uint32_t f = 0; f < FUNCTIONS; f++)
        function_put(p, f);
    put(p,
        "%%main = OpFunction %%void None %%nothing\n%%begin = OpLabel\n"
        "%%result = OpFunctionCall %%uint %%function_%u %%number_0 %%number_1\n"
        "OpReturn\nOpFunctionEnd\n",
        FUNCTIONS - 1);
    return p->text;
}

/* ------------------------------------------------------------------------------ Interpreting -- */

struct machine {
    const struct program *p;
    const struct program_inputs *in;
    uint32_t me, rounds, returned;
    uint32_t *out;
    enum program_end end; /* not PROGRAM_ENDS: it has come to something that it shouldn't */
};

struct frame {
    uint32_t variables[PROGRAM_VARIABLES], counters[COUNTERS], array[ARRAY];
};

enum way { ON, OUT, ROUND, BACK };

static uint32_t call(struct machine *m, uint32_t f, uint32_t a, uint32_t b);

static void go_wrong(struct machine *m, enum program_end end)
{
    m->end = m->end == PROGRAM_ENDS ? end : PROGRAM_GOES_WRONG;
}

static uint32_t evaluate(struct machine *m, struct frame *f, const struct node *n)
{
    uint32_t a = n->kids[0] ? evaluate(m, f, n->kids[0]) : 0,
             b = n->kids[1] ? evaluate(m, f, n->kids[1]) : 0;
    if (m->end > PROGRAM_MAY_RUN_OUT)
        return 0;
    switch (n->kind) {
    case NUMBER:
        return n->value;
    case ME:
        return m->me;
    case PUSH:
        return m->in->push[n->value];
    case VARIABLE:
        return f->variables[n->value];
    case COUNTER:
        return f->counters[n->value];
    case ELEMENT:
        if (a < ARRAY)
            return f->array[a];
        go_wrong(m, PROGRAM_STEPS_OUT);
        return 0;
    case GIVEN:
        if (a < m->in->given_count)
            return m->in->given[a];
        go_wrong(m, PROGRAM_STEPS_OUT);
        return 0;
    case CALL:
        return call(m, n->value, a, b);
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case XOR:
        return a ^ b;
    case AND:
        return a & b;
    case OR:
        return a | b;
    case SHIFT:
        return a >> n->value;
    case DIVIDE:
        if (b)
            return a / b;
        go_wrong(m, PROGRAM_DIVIDES);
        return 0;
    case CHOOSE:
        return evaluate(m, f, n->kids[2]) ? a : b;
    case LESS:
        return a < b;
    case EQUAL:
        return a == b;
    default:
        return a != b;
    }
}

static enum way block_run(struct machine *m, struct frame *f, const struct node *n);

/* At a loop's end: whether it goes on, as it wants to. */
static bool again(struct machine *m, bool wants, uint32_t round)
{
    m->rounds++;
    if (m->end <= PROGRAM_MAY_RUN_OUT && wants &&
        (round >= m->in->loop_limit || m->rounds >= 2 * m->in->total_limit))
        go_wrong(m, PROGRAM_RUNS_OUT);
    if (m->end == PROGRAM_ENDS && wants && m->rounds >= m->in->total_limit)
        m->end = PROGRAM_MAY_RUN_OUT;
    return wants && m->end <= PROGRAM_MAY_RUN_OUT;
}

static enum way loop_run(struct machine *m, struct frame *f, const struct node *n)
{
    if (n->kind == COUNT)
        f->counters[n->value] = 0;
    for (uint32_t round = 1;; round++) {
        bool wants = true;
        if (n->kind == COUNT && f->counters[n->value] >= evaluate(m, f, n->kids[0]))
            return ON;
        if (n->kind == WHILE && !evaluate(m, f, n->kids[0]))
            return ON;
        if (n->kind == FOREVER && n->kids[0] && evaluate(m, f, n->kids[0]))
            return ON;
        enum way way = block_run(m, f, n->kids[1]);
        if (way == BACK)
            return BACK;
        if (way == OUT)
            return ON;
        if (n->kind == COUNT)
            f->counters[n->value]++;
        if (n->kind == REPEAT || n->kind == TIGHT)
            wants = evaluate(m, f, n->kids[0]);
        if (n->kind == REPEAT_UNTIL)
            wants = !evaluate(m, f, n->kids[0]);
        if (m->end > PROGRAM_MAY_RUN_OUT)
            return BACK;
        if (!again(m, wants, round))
            return m->end > PROGRAM_MAY_RUN_OUT ? BACK : ON;
    }
}

static enum way statement_run(struct machine *m, struct frame *f, const struct node *n)
{
    uint32_t value, index;
    switch (n->kind) {
    case SET:
        f->variables[n->value] = evaluate(m, f, n->kids[0]);
        return ON;
    case PUT:
        value = evaluate(m, f, n->kids[1]);
        index = evaluate(m, f, n->kids[0]);
        if (m->end <= PROGRAM_MAY_RUN_OUT && index >= ARRAY)
            go_wrong(m, PROGRAM_STEPS_OUT);
        else if (index < ARRAY)
            f->array[index] = value;
        return ON;
    case IF:
        value = evaluate(m, f, n->kids[0]);
        return block_run(m, f, n->kids[value ? 1 : 2]);
    case SWITCH:
        value = evaluate(m, f, n->kids[0]);
        return block_run(m, f, n->kids[1 + (value < 2 ? value : 2)]);
    case BREAK:
        return OUT;
    case CONTINUE:
        return ROUND;
    case RETURN:
        m->returned = evaluate(m, f, n->kids[0]);
        return BACK;
    default:
        return loop_run(m, f, n);
    }
}

static enum way block_run(struct machine *m, struct frame *f, const struct node *n)
{
    enum way way = ON;
    for (; n && way == ON; n = n->next) {
        way = statement_run(m, f, n);
        if (m->end > PROGRAM_MAY_RUN_OUT)
            return BACK;
    }
    return way;
}

static uint32_t call(struct machine *m, uint32_t f, uint32_t a, uint32_t b)
{
    struct frame frame = {.variables = {a, b, 2, 3}};
    if (block_run(m, &frame, m->p->bodies[f]) == BACK)
        return m->returned;
    if (f + 1 == FUNCTIONS)
        memcpy(m->out, frame.variables, sizeof(frame.variables));
    return frame.variables[3];
}

enum program_end program_run(const struct program *p, const struct program_inputs *inputs,
                             uint32_t me, uint32_t out[PROGRAM_VARIABLES])
{
    struct machine m = {.p = p, .in = inputs, .me = me, .out = out};
    call(&m, FUNCTIONS - 1, 0, 1);
    return m.end;
}
