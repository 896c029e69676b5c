/* SPDX-License-Identifier: MIT */
/* Preloaded into other people's programs, so that two runs of one can be compared:
 *
 *   BELFRY_STEADY_PICTURE=FILE  each window's contents are written to FILE (PPM) just before the
 *                               program destroys it
 *   BELFRY_STEADY_FRAMES=N      gettimeofday tells 20 ms per frame presented, whatever time it is;
 *                               after N presents the next event that the program asks for is
 *                               its window being closed
 *
 * Only what a program links directly passes here, which is what vkcube and vkd3d's demos do. What
 * it takes by vkGetDeviceProcAddr doesn't, nor anything inside of drivers and layers. */
#include <dlfcn.h>
#include "../support/std.h"

#include <sys/time.h>

#include <vulkan/vulkan.h>
#include <xcb/xcb.h>

#define EXPORTED __attribute__((visibility("default")))

EXPORTED VkResult VKAPI_CALL vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info);

static struct {
    unsigned long frames; /* to present; 0: the program is left to itself */
    unsigned long presented;
    xcb_window_t window; /* the last one mapped */
    bool closed;
} steady;

__attribute__((constructor)) static void steady_start(void)
{
    const char *frames = getenv("BELFRY_STEADY_FRAMES");
    steady.frames = frames ? strtoul(frames, NULL, 10) : 0;
}

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function) {
        fprintf(stderr, "steady: nobody has %s\n", name);
        exit(99);
    }
    return function;
}

EXPORTED VkResult VKAPI_CALL vkQueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    PFN_vkQueuePresentKHR present = (PFN_vkQueuePresentKHR)next("vkQueuePresentKHR");
    steady.presented++;
    return present(queue, info);
}

EXPORTED int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (!steady.frames) {
        int (*real)(struct timeval *, void *) =
            (int (*)(struct timeval *, void *))next("gettimeofday");
        return real(time, zone);
    }
    unsigned long milliseconds = 20 * steady.presented;
    time->tv_sec = 1000000000 + (time_t)(milliseconds / 1000);
    time->tv_usec = (suseconds_t)(milliseconds % 1000 * 1000);
    return 0;
}

EXPORTED xcb_void_cookie_t xcb_map_window(xcb_connection_t *connection, xcb_window_t window)
{
    xcb_void_cookie_t (*real)(xcb_connection_t *, xcb_window_t) =
        (xcb_void_cookie_t(*)(xcb_connection_t *, xcb_window_t))next("xcb_map_window");
    steady.window = window;
    return real(connection, window);
}

static xcb_atom_t atom(xcb_connection_t *connection, const char *name)
{
    xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(
        connection, xcb_intern_atom(connection, 0, (uint16_t)strlen(name), name), NULL);
    xcb_atom_t value = reply ? reply->atom : (xcb_atom_t)XCB_ATOM_NONE;
    free(reply);
    return value;
}

/* What a window manager sends when the user closes the window. Sent through the display it would
 * arrive some frames later, here a few and there many. */
static xcb_generic_event_t *closing(xcb_connection_t *connection)
{
    union {
        xcb_client_message_event_t message;
        xcb_generic_event_t event;
    } *closing = calloc(1, sizeof(*closing));
    if (!closing)
        exit(99);
    closing->message = (xcb_client_message_event_t){
        .response_type = XCB_CLIENT_MESSAGE,
        .format = 32,
        .window = steady.window,
        .type = atom(connection, "WM_PROTOCOLS"),
        .data.data32 = {atom(connection, "WM_DELETE_WINDOW")},
    };
    steady.closed = true;
    return &closing->event;
}

static bool frames_done(void)
{
    return steady.frames && steady.presented >= steady.frames && !steady.closed;
}

EXPORTED xcb_generic_event_t *xcb_poll_for_event(xcb_connection_t *connection)
{
    if (frames_done())
        return closing(connection);
    xcb_generic_event_t *(*real)(xcb_connection_t *) =
        (xcb_generic_event_t * (*)(xcb_connection_t *)) next("xcb_poll_for_event");
    return real(connection);
}

EXPORTED xcb_generic_event_t *xcb_wait_for_event(xcb_connection_t *connection)
{
    if (frames_done())
        return closing(connection);
    xcb_generic_event_t *(*real)(xcb_connection_t *) =
        (xcb_generic_event_t * (*)(xcb_connection_t *)) next("xcb_wait_for_event");
    return real(connection);
}

/* The window's pixels as a binary PPM. Presents have gone to the display over the same connection,
 * so that it answers with the last one. */
static void picture_save(xcb_connection_t *connection, xcb_window_t window, const char *path)
{
    xcb_get_geometry_reply_t *size =
        xcb_get_geometry_reply(connection, xcb_get_geometry(connection, window), NULL);
    xcb_get_image_reply_t *image = NULL;
    if (size)
        image = xcb_get_image_reply(connection,
                                    xcb_get_image(connection, XCB_IMAGE_FORMAT_Z_PIXMAP, window, 0,
                                                  0, size->width, size->height, UINT32_MAX),
                                    NULL);
    FILE *file = fopen(path, "wb");
    if (!image || !file || image->depth != 24 ||
        (size_t)xcb_get_image_data_length(image) != 4u * size->width * size->height) {
        fprintf(stderr, "steady: no picture of the window for %s\n", path);
        exit(99);
    }
    fprintf(file, "P6\n%u %u\n255\n", size->width, size->height);
    const uint8_t *pixels = xcb_get_image_data(image);
    for (size_t i = 0; i < (size_t)size->width * size->height; i++) {
        uint8_t rgb[3] = {pixels[4 * i + 2], pixels[4 * i + 1], pixels[4 * i]};
        fwrite(rgb, sizeof(rgb), 1, file);
    }
    if (fclose(file) != 0) {
        fprintf(stderr, "steady: can't write %s\n", path);
        exit(99);
    }
    free(image);
    free(size);
}

EXPORTED xcb_void_cookie_t xcb_destroy_window(xcb_connection_t *connection, xcb_window_t window)
{
    xcb_void_cookie_t (*real)(xcb_connection_t *, xcb_window_t) =
        (xcb_void_cookie_t(*)(xcb_connection_t *, xcb_window_t))next("xcb_destroy_window");
    const char *path = getenv("BELFRY_STEADY_PICTURE");
    if (path)
        picture_save(connection, window, path);
    return real(connection, window);
}
