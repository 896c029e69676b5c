/* SPDX-License-Identifier: MIT */
/*
 * The second example of the D3D12 document 'Multi-engine synchronization', in Belfry's own API: a
 * ring buffer between the copy engine and the 3D engine.
 *
 * A file is streamed through a ring of a few chunks. The copy queue waits until the draw that used
 * a place of the ring has ended, and copies the next chunk there; the direct queue waits for that
 * copy, and draws the chunk. Each queue has a fence that tells how far it is. A longer ring lets
 * copies run further ahead, a shorter one needs less memory; the picture is the same. The loop is
 * stream() below.
 */
#include <stdlib.h>
#include <string.h>

#include "cloud.h"
#include "pipeline.h"
#include "show.h"
#include "source.h"

#define RING_MOST 8
/* The number of chunks that the CPU writes, from which they are copied into the ring. There are
 * more of them than places in the ring, so that the copy queue waits for room in the ring, and not
 * the CPU. */
#define UPLOADS(ring) ((ring) + 3)
#define UPLOADS_MOST  UPLOADS(RING_MOST)

struct streaming {
    struct sample_show show;
    const char *file;
    uint32_t ring;  /* chunks in the ring: the document's 'length' */
    uint32_t chunk; /* size of a chunk in bytes */

    struct source source;
    uint64_t chunks; /* of the file */
    struct cloud cloud;

    BfFence copied; /* chunk N is in the ring: the document's fence2 */
    BfFence drawn;  /* chunk N has been drawn, its place is free: the document's fence1 */

    uint32_t stride;              /* distance of two chunks in a buffer, in bytes */
    struct sample_buffer uploads; /* written by the CPU */
    struct sample_buffer places;  /* the ring, read by the direct queue */
    VkCommandPool copy_pool, draw_pool;
    VkCommandBuffer copy_commands[UPLOADS_MOST], draw_commands[UPLOADS_MOST];
};

/* The chunk with number `number`, from 1. After the file's last chunk the first comes again. */
static struct cloud_chunk chunk_describe(const struct streaming *streaming, uint64_t number)
{
    uint64_t index = (number - 1) % streaming->chunks, round = (number - 1) / streaming->chunks;
    uint64_t offset = index * streaming->chunk;
    uint64_t left = streaming->source.size - offset;

    return (struct cloud_chunk){
        .first = (uint32_t)(number % streaming->ring) * streaming->stride,
        .count = left < streaming->chunk ? (uint32_t)left : streaming->chunk,
        .offset = offset,
        .size = streaming->source.size,
        .number = (uint32_t)number,
        /* Each time the file is shown from another side. */
        .turn = 0.52f + 0.4f * (float)(round % 1000),
    };
}

/* Reads a chunk into the CPU's buffer, and records the commands that copy it into the ring. */
static VkResult upload_record(struct streaming *streaming, uint64_t number,
                              const struct cloud_chunk *chunk, VkCommandBuffer *commands)
{
    const struct sample_device *device = &streaming->show.device;
    uint32_t slot = (uint32_t)(number % UPLOADS(streaming->ring));
    uint32_t from = slot * streaming->stride;

    if (!source_read(&streaming->source, chunk->offset, chunk->count,
                     (uint8_t *)streaming->uploads.mapped + from))
        return VK_ERROR_UNKNOWN;
    *commands = streaming->copy_commands[slot];
    PASS(sample_commands_begin(*commands));
    sample_label_begin(device, *commands, "copy chunk %u", chunk->number);
    vkCmdCopyBuffer(*commands, streaming->uploads.handle, streaming->places.handle, 1,
                    &(VkBufferCopy){from, chunk->first, chunk->count + 2});
    sample_label_end(device, *commands);
    return sample_commands_end(*commands);
}

static VkResult draw_record(struct streaming *streaming, uint64_t number,
                            const struct cloud_chunk *chunk, const struct sample_target *target,
                            VkCommandBuffer *commands)
{
    struct sample_show *show = &streaming->show;

    if (streaming->cloud.extent.width != show->extent.width ||
        streaming->cloud.extent.height != show->extent.height)
        PASS(cloud_resize(&streaming->cloud, &show->device, show->extent));
    if (chunk->offset == 0)
        streaming->cloud.empty = true;
    *commands = streaming->draw_commands[number % UPLOADS(streaming->ring)];
    PASS(sample_commands_begin(*commands));
    cloud_add(&streaming->cloud, &show->device, *commands, chunk);
    cloud_develop(&streaming->cloud, &show->device, *commands, target);
    return sample_commands_end(*commands);
}

/* The document's loop. Its 'length' is streaming->ring; instead of its Map on the copy engine, the
 * CPU fills a buffer that is then copied. */
static VkResult stream(struct streaming *streaming, uint64_t last)
{
    struct sample_show *show = &streaming->show;

    for (uint64_t i = 1; i <= last && sample_show_goes_on(show); ++i) {
        const struct cloud_chunk chunk = chunk_describe(streaming, i);
        VkCommandBuffer copy, draw;
        struct sample_target target;

        /* The CPU is about to overwrite a chunk and command buffers, so their last use must have
         * ended. */
        if (i > UPLOADS(streaming->ring))
            PASS(sample_fence_await(streaming->drawn, i - UPLOADS(streaming->ring)));
        PASS(upload_record(streaming, i, &chunk, &copy));

        if (i > streaming->ring)
            TRY(bfQueueWait(show->copy, streaming->drawn, i - streaming->ring));
        TRY(bfQueueExecute(show->copy, 1, &copy));
        TRY(bfQueueSignal(show->copy, streaming->copied, i));

        VkResult result = sample_show_begin(show, &target);
        if (result != VK_SUCCESS)
            return result;
        PASS(draw_record(streaming, i, &chunk, &target, &draw));
        TRY(bfQueueWait(show->direct, streaming->copied, i));
        TRY(bfQueueExecute(show->direct, 1, &draw));
        TRY(bfQueueSignal(show->direct, streaming->drawn, i));
        PASS(sample_show_end(show, &target));
    }
    return VK_SUCCESS;
}

static VkResult objects_create(struct streaming *streaming)
{
    struct sample_show *show = &streaming->show;
    const struct sample_device *device = &show->device;
    uint32_t uploads = UPLOADS(streaming->ring);

    /* Shaders read whole 32-bit words, and two more bytes follow each chunk. */
    streaming->stride = (streaming->chunk + 2 + 3) & ~3u;
    PASS(sample_fence_create(show, &streaming->copied));
    PASS(sample_fence_create(show, &streaming->drawn));
    PASS(sample_buffer_create(device, (VkDeviceSize)streaming->stride * uploads,
                              VK_BUFFER_USAGE_TRANSFER_SRC_BIT, true, "uploads",
                              &streaming->uploads));
    PASS(sample_buffer_create(device, (VkDeviceSize)streaming->stride * streaming->ring,
                              VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                              false, "ring", &streaming->places));
    PASS(sample_command_buffers(device, bfGetCommandQueueFamilyIndex(show->copy), uploads, "copy",
                                &streaming->copy_pool, streaming->copy_commands));
    PASS(sample_command_buffers(device, bfGetCommandQueueFamilyIndex(show->direct), uploads, "draw",
                                &streaming->draw_pool, streaming->draw_commands));
    PASS(cloud_create(&streaming->cloud, device, streaming->places.handle, show->format));
    return cloud_resize(&streaming->cloud, device, show->extent);
}

static void objects_destroy(struct streaming *streaming)
{
    struct sample_show *show = &streaming->show;
    const struct sample_device *device = &show->device;

    /* The fences are destroyed first, so that no queue waits for a chunk that will never come. */
    bfDestroyFence(streaming->drawn);
    bfDestroyFence(streaming->copied);
    (void)sample_show_idle(show);
    cloud_destroy(&streaming->cloud, device);
    vkDestroyCommandPool(device->handle, streaming->draw_pool, NULL);
    vkDestroyCommandPool(device->handle, streaming->copy_pool, NULL);
    sample_buffer_destroy(device, &streaming->places);
    sample_buffer_destroy(device, &streaming->uploads);
}

static int streaming_run(struct streaming *streaming)
{
    struct sample_show *show = &streaming->show;
    uint64_t last = show->frames;
    double start = sample_seconds();

    streaming->chunks = (streaming->source.size + streaming->chunk - 1) / streaming->chunk;
    if (!last)
        last = show->windowed ? UINT64_MAX : streaming->chunks;
    if (stream(streaming, last) < 0 || sample_show_idle(show) < 0)
        return SAMPLE_EXIT_FAILED;
    double seconds = sample_seconds() - start;

    int exit_code = sample_show_save(show);
    if (exit_code != SAMPLE_EXIT_DONE)
        return exit_code;
    uint64_t whole = show->shown / streaming->chunks * streaming->source.size;
    uint64_t rest = show->shown % streaming->chunks * streaming->chunk;
    double megabytes = (double)(whole + rest) / 1e6;
    return sample_show_tell(show,
                            "%llu chunks of %u bytes through a ring of %u, %.1f MB in %.2f s, "
                            "drawn as they came.",
                            (unsigned long long)show->shown, streaming->chunk, streaming->ring,
                            megabytes, seconds);
}

int main(int argc, char **argv)
{
    static struct streaming streaming = {
        .show = {.size = {1280, 720}, .seed = 16},
        .ring = 3,
        .chunk = 65536,
    };
    struct sample_show *show = &streaming.show;
    const struct sample_option table[] = {
        {"--file", "PATH", "stream this file (else a curve that is computed)", SAMPLE_OPTION_TEXT,
         &streaming.file, 0, 0},
        {"--ring", "N", "chunks in the ring (3)", SAMPLE_OPTION_NUMBER, &streaming.ring, 1,
         RING_MOST},
        {"--chunk", "BYTES", "size of a chunk (65536)", SAMPLE_OPTION_NUMBER, &streaming.chunk, 1,
         8 << 20},
    };

    int exit_code = sample_show_arguments(
        show, "streaming",
        "Streams a file through a ring between a copy queue and a 3D queue; each frame is a chunk.",
        table, sizeof table / sizeof *table, argc, argv);
    if (exit_code != SAMPLE_OPTIONS_GO_ON)
        return exit_code;
    exit_code = source_open(&streaming.source, streaming.file, show->seed);
    if (exit_code == SAMPLE_EXIT_DONE) {
        exit_code = sample_show_open(show);
        if (exit_code == SAMPLE_OPTIONS_GO_ON) {
            exit_code =
                objects_create(&streaming) < 0 ? SAMPLE_EXIT_FAILED : streaming_run(&streaming);
            objects_destroy(&streaming);
        }
    }
    sample_show_close(show);
    source_close(&streaming.source);
    return exit_code;
}
