/* SPDX-License-Identifier: MIT */
/* Damaged modules: whatever is done to a shader's words, analysis and rewriter survive it, and of
 * what is still valid they make valid modules. [SF-1, SF-3, FU-7] Run under asan for what it's
 * worth.
 *
 * --count N, --seed N (of the first; each has the next one) */
#include "helper.h"
#include "support/arguments.h"

#include <spirv/unified1/spirv.h>

#include "specialize/dry_run/dry_run.h"

static uint64_t state;

static uint32_t next(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % below);
}

#define MOST 65536

static uint32_t words[MOST];
static uint32_t count;

/* The places of instructions, as far as their lengths make sense. */
static uint32_t places[MOST];
static uint32_t place_count;

static void places_find(void)
{
    place_count = 0;
    for (uint32_t at = 5; at < count && words[at] >> 16 && at + (words[at] >> 16) <= count;
         at += words[at] >> 16)
        places[place_count++] = at;
}

static void cut(uint32_t at, uint32_t size)
{
    memmove(words + at, words + at + size, (count - at - size) * sizeof(*words));
    count -= size;
}

static void paste(uint32_t at, const uint32_t *from, uint32_t size)
{
    if (count + size > MOST)
        return;
    memmove(words + at + size, words + at, (count - at) * sizeof(*words));
    memcpy(words + at, from, size * sizeof(*words));
    count += size;
}

static bool has_type(uint32_t opcode)
{
    return opcode == SpvOpConstant || opcode == SpvOpSpecConstant || opcode == SpvOpLoad ||
           opcode == SpvOpAccessChain || opcode == SpvOpExtInst || opcode == SpvOpVariable ||
           (opcode >= SpvOpVectorExtractDynamic && opcode <= SpvOpCompositeInsert) ||
           (opcode >= SpvOpConvertFToU && opcode <= SpvOpConvertUToF) ||
           (opcode >= SpvOpSNegate && opcode <= SpvOpBitCount) || opcode == SpvOpPhi;
}

/* Has one instruction use another value of the same type. */
static void mistake(void)
{
    static uint32_t values[MOST], types[MOST];
    uint32_t value_count = 0;
    for (uint32_t i = 0; i < place_count; i++) {
        uint32_t at = places[i];
        if (words[at] >> 16 < 3 || !has_type(words[at] & 0xffff))
            continue;
        types[value_count] = words[at + 1];
        values[value_count++] = words[at + 2];
    }
    uint32_t at = places[next(place_count)], size = words[at] >> 16;
    if (size < 3 || !value_count)
        return;
    uint32_t *operand = &words[at + 1 + next(size - 1)], type = 0;
    for (uint32_t i = 0; i < value_count; i++)
        if (values[i] == *operand)
            type = types[i];
    for (uint32_t i = next(value_count), n = 0; type && n < value_count; i++, n++) {
        if (types[i % value_count] != type || values[i % value_count] == *operand)
            continue;
        *operand = values[i % value_count];
        return;
    }
}

static void mutate(void)
{
    static uint32_t spare[65536];
    places_find();
    if (!place_count || count < 6)
        return;
    uint32_t at = places[next(place_count)], size = words[at] >> 16;
    uint32_t other = places[next(place_count)], other_size = words[other] >> 16;
    switch (next(24)) {
    case 0: /* any bit */
        words[next(count)] ^= 1u << next(32);
        break;
    case 1: /* any word */
        words[next(count)] = next(2) ? next(words[3] + 1) : (uint32_t)state;
        break;
    case 2: /* another opcode */
        words[at] = size << 16 | (words[other] & 0xffff);
        break;
    case 3: /* one the shader hasn't got */
        words[at] = size << 16 | next(400);
        break;
    case 4:
        cut(at, size);
        break;
    case 5: /* twice */
        memcpy(spare, words + at, size * sizeof(*spare));
        paste(at, spare, size);
        break;
    case 6: /* elsewhere */
        memcpy(spare, words + at, size * sizeof(*spare));
        cut(at, size);
        places_find();
        if (place_count)
            paste(places[next(place_count)], spare, size);
        break;
    case 7: /* an operand of another's */
        if (size > 1 && other_size > 1)
            words[at + 1 + next(size - 1)] = words[other + 1 + next(other_size - 1)];
        break;
    case 8: /* one operand more or less */
        if (next(2) && size > 1) {
            cut(at + size - 1, 1);
            words[at] -= 1u << 16;
        } else {
            uint32_t word = next(words[3] + 1);
            paste(at + size, &word, 1);
            words[at] += 1u << 16;
        }
        break;
    case 9: /* a length that's wrong */
        words[at] ^= (1u << 16) << next(6);
        break;
    case 10:
        count = 5 + next(count - 5);
        break;
    case 11: /* the bound */
        words[3] = next(2) ? next(2 * words[3] + 2) : (uint32_t)state;
        break;
    case 12: /* an id that is a near one's neighbour: often still a type or value of that kind */
        if (size > 1)
            words[at + 1 + next(size - 1)] += next(2) ? 1 : UINT32_MAX;
        break;
    default:
        mistake();
        break;
    }
}

static void stop(uint64_t seed, const char *what, const char *why)
{
    fprintf(stderr, "module of seed %llu: %s: %s\n", (unsigned long long)seed, what, why);
    FILE *file = fopen("mutated.spv", "wb");
    if (file) {
        fwrite(words, sizeof(*words), count, file);
        fclose(file);
    }
    exit(1);
}

/* Returns whether anything was folded. */
static bool run(uint64_t seed)
{
    const struct spirv *spirv = &spirv_all[next((uint32_t)spirv_count)];
    count = (uint32_t)(spirv->end - spirv->words);
    memcpy(words, spirv->words, count * sizeof(*words));
    for (uint32_t i = 1 + next(2) * next(4); i; i--)
        mutate();
    /* A copy of its own, so that what lies behind it is noticed. */
    uint32_t *own = malloc(count * sizeof(*own) + !count);
    memcpy(own, words, count * sizeof(*own));
    const uint32_t values[] = {next(64), next(64), next(64)};
    const VkSpecializationMapEntry map[] = {
        {7, 0, 4}, {next(10), 4, next(9)}, {next(10), next(16), 4}};
    const VkSpecializationInfo specialization = {3, map, sizeof(values), values};
    struct bf_shader_info info = {own, count, "main", spirv->stage,
                                  next(2) ? &specialization : NULL};
    struct bf_shader *shader;
    if (bf_shader_create(&info, &shader) != VK_SUCCESS)
        stop(seed, "bf_shader_create", "fails");
    free(own);
    struct bf_watch watch;
    bf_watch_choose(&watch, (const struct bf_shader *const[]){shader}, 1);
    struct bf_folded folded;
    uint32_t form = next(3);
    bool did = false;
    uint8_t mask = next(2) ? 0xff : (uint8_t)next(256);
    VkResult result = form == 2
                          ? bf_shader_fold_keeping(shader, &watch, mask, (uint8_t)next(8), &folded)
                          : bf_shader_fold(shader, &watch, mask, form == 1, &folded);
    if (result == VK_SUCCESS) {
        uint8_t push[BF_PUSH_CONSTANT_BYTES] = {1, 2, 3};
        VkSpecializationInfo merged;
        if (bf_folded_specialize(&folded, shader, push, &merged) != VK_SUCCESS)
            stop(seed, "bf_folded_specialize", "fails");
        bf_folded_specialization_finish(&merged);
        char why[512];
        did = bf_shader_validate(words, count, VK_API_VERSION_1_3, NULL, 0) == VK_SUCCESS;
        if (did && bf_shader_validate(folded.words, folded.word_count, VK_API_VERSION_1_3, why,
                                      sizeof(why)) != VK_SUCCESS)
            stop(seed, "a valid module has become invalid", why);
        bf_folded_finish(&folded);
    } else if (result != VK_INCOMPLETE) {
        stop(seed, "bf_shader_fold", "fails");
    }
    bf_shader_release(shader);
    /* It asks SPIRV-Tools of both by itself. [FU-7] */
    const struct bf_shader_info again = {words, count, "main", spirv->stage, NULL};
    const struct bf_dry_run_options options = {
        .set = 7, .loop_limit = next(100), .points = next(2)};
    struct bf_dry_run dry;
    if (bf_dry_run_create(&again, &options, &dry) != VK_SUCCESS)
        stop(seed, "bf_dry_run_create", "fails");
    if (dry.reason == BF_DRY_RUN_INVALID &&
        bf_shader_validate(words, count, VK_API_VERSION_1_3, NULL, 0) == VK_SUCCESS)
        stop(seed, "a valid module has no dry-run form", "invalid");
    bf_dry_run_finish(&dry);
    return did;
}

int main(int argc, char **argv)
{
    const uint64_t runs = argument(argc, argv, "--count", 1000),
                   seed = argument(argc, argv, "--seed", 1);
    uint64_t valid = 0;
    for (uint64_t i = 0; i < runs; i++) {
        state = (seed + i) * UINT64_C(0x9E3779B97F4A7C15) + 1;
        valid += run(seed + i);
    }
    printf("%llu modules, %llu of them valid still and folded\n", (unsigned long long)runs,
           (unsigned long long)valid);
    return 0;
}
