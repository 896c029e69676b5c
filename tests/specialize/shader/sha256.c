/* SPDX-License-Identifier: MIT */
/* The standard's own examples, and pieces of all sizes. */
#include "helper.h"

#include "base/sha256.h"

static void text_of(const uint8_t hash[32], char text[65])
{
    for (uint32_t i = 0; i < 32; i++)
        snprintf(text + 2 * i, 3, "%02x", hash[i]);
}

TEST(examples)
{
    static char million[1000000];
    memset(million, 'a', sizeof(million));
    const struct {
        const char *data;
        size_t size;
        const char *hash;
    } each[] = {
        {"", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {million, sizeof(million),
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
        struct bf_sha256 sha;
        uint8_t hash[32];
        char text[65];
        bf_sha256_init(&sha);
        bf_sha256_add(&sha, each[i].data, each[i].size);
        bf_sha256_finish(&sha, hash);
        text_of(hash, text);
        assert_string_equal(text, each[i].hash);
    }
}

TEST(pieces)
{
    uint8_t data[300], whole[32], parts[32];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t size = 0; size <= sizeof(data); size++) {
        struct bf_sha256 sha;
        bf_sha256_init(&sha);
        bf_sha256_add(&sha, data, size);
        bf_sha256_finish(&sha, whole);
        bf_sha256_init(&sha);
        for (size_t at = 0, part = 0; at < size; at += part) {
            part = 1 + at % 67 < size - at ? 1 + at % 67 : size - at;
            bf_sha256_add(&sha, data + at, part);
        }
        bf_sha256_finish(&sha, parts);
        assert_memory_equal(whole, parts, 32);
    }
}

/* What makes shaders different makes their hashes different. */
TEST(shaders)
{
    const struct spirv *spirv = spirv_find("loops.comp");
    uint32_t values[2] = {1, 2};
    VkSpecializationMapEntry entry = {0, 0, 4}, moved = {0, 4, 4};
    VkSpecializationInfo one = {1, &entry, 8, values}, other = {1, &moved, 8, values};
    const struct bf_shader_info infos[] = {
        {spirv->words, (size_t)(spirv->end - spirv->words), "main", spirv->stage, NULL},
        {spirv->words, (size_t)(spirv->end - spirv->words) - 1, "main", spirv->stage, NULL},
        {spirv->words, (size_t)(spirv->end - spirv->words), "min", spirv->stage, NULL},
        {spirv->words, (size_t)(spirv->end - spirv->words), "main", VK_SHADER_STAGE_VERTEX_BIT,
         NULL},
        {spirv->words, (size_t)(spirv->end - spirv->words), "main", spirv->stage, &one},
        {spirv->words, (size_t)(spirv->end - spirv->words), "main", spirv->stage, &other},
    };
    uint8_t hashes[6][32], again[32];
    for (uint32_t i = 0; i < 6; i++) {
        struct bf_shader *shader;
        assert_int_equal(bf_shader_create(&infos[i], &shader), VK_SUCCESS);
        bf_shader_hash(shader, hashes[i]);
        for (uint32_t j = 0; j < i; j++)
            assert_memory_not_equal(hashes[i], hashes[j], 32);
        bf_shader_release(shader);
        assert_int_equal(bf_shader_create(&infos[i], &shader), VK_SUCCESS);
        bf_shader_hash(shader, again);
        assert_memory_equal(hashes[i], again, 32);
        bf_shader_release(shader);
    }
}
