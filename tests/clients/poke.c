/* SPDX-License-Identifier: MIT */
/* Does to the window of a program what its user might: belfry-poke waits until the display shows a
 * window, gives it other sizes, each until something new was drawn, and closes it as a window
 * manager does. 'belfry-poke at-once' closes it before anything may have been drawn. 0 when it has
 * done so.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xcb/xcb.h>

static xcb_connection_t *display;

static int fail(const char *what)
{
    fprintf(stderr, "belfry-poke: %s\n", what);
    return 1;
}

static bool viewable(xcb_window_t window)
{
    xcb_get_window_attributes_reply_t *reply =
        xcb_get_window_attributes_reply(display, xcb_get_window_attributes(display, window), NULL);
    bool result = reply && reply->map_state == XCB_MAP_STATE_VIEWABLE;
    free(reply);
    return result;
}

/* One that is there already, or 0. */
static xcb_window_t window_find(xcb_window_t root)
{
    xcb_query_tree_reply_t *tree =
        xcb_query_tree_reply(display, xcb_query_tree(display, root), NULL);
    xcb_window_t found = 0;
    for (int i = 0; tree && !found && i < xcb_query_tree_children_length(tree); ++i)
        if (viewable(xcb_query_tree_children(tree)[i]))
            found = xcb_query_tree_children(tree)[i];
    free(tree);
    return found;
}

static xcb_window_t window_await(xcb_window_t root)
{
    const uint32_t mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY;
    xcb_change_window_attributes(display, root, XCB_CW_EVENT_MASK, &mask);
    xcb_window_t window = window_find(root);
    while (!window) {
        xcb_generic_event_t *event = xcb_wait_for_event(display);
        if (!event)
            return 0;
        if ((event->response_type & 0x7f) == XCB_MAP_NOTIFY)
            window = ((xcb_map_notify_event_t *)event)->window;
        free(event);
    }
    return window;
}

static void window_resize(xcb_window_t window, uint32_t width, uint32_t height)
{
    const uint32_t size[2] = {width, height};
    xcb_configure_window(display, window, XCB_CONFIG_WINDOW_WIDTH | XCB_CONFIG_WINDOW_HEIGHT, size);
    /* Whoever asks for the size from now on gets this one. */
    free(xcb_get_geometry_reply(display, xcb_get_geometry(display, window), NULL));
}

/* Waits until the window shows another picture than now. */
static bool picture_await(xcb_window_t window)
{
    xcb_get_image_reply_t *first = NULL;
    for (bool changed = false; !changed;) {
        xcb_get_geometry_reply_t *size =
            xcb_get_geometry_reply(display, xcb_get_geometry(display, window), NULL);
        xcb_get_image_reply_t *image =
            size ? xcb_get_image_reply(display,
                                       xcb_get_image(display, XCB_IMAGE_FORMAT_Z_PIXMAP, window, 0,
                                                     0, size->width, size->height, UINT32_MAX),
                                       NULL)
                 : NULL;
        free(size);
        if (!image) {
            free(first);
            return false;
        }
        int length = xcb_get_image_data_length(image);
        changed = first && (length != xcb_get_image_data_length(first) ||
                            memcmp(xcb_get_image_data(image), xcb_get_image_data(first),
                                   (size_t)length) != 0);
        if (first)
            free(image);
        else
            first = image;
        if (!changed)
            poll(NULL, 0, 5); /* leaves the processor to whoever draws */
    }
    free(first);
    return true;
}

static xcb_atom_t atom(const char *name)
{
    xcb_intern_atom_reply_t *reply = xcb_intern_atom_reply(
        display, xcb_intern_atom(display, 0, (uint16_t)strlen(name), name), NULL);
    xcb_atom_t result = reply ? reply->atom : 0;
    free(reply);
    return result;
}

static void window_close(xcb_window_t window)
{
    xcb_client_message_event_t message = {
        .response_type = XCB_CLIENT_MESSAGE,
        .format = 32,
        .window = window,
        .type = atom("WM_PROTOCOLS"),
        .data.data32 = {atom("WM_DELETE_WINDOW")},
    };
    xcb_send_event(display, 0, window, 0, (const char *)&message);
    free(xcb_get_geometry_reply(display, xcb_get_geometry(display, window), NULL));
}

int main(int argc, char **argv)
{
    static const uint32_t sizes[][2] = {{200, 120}, {97, 61}, {400, 300}, {320, 20}, {161, 90}};
    bool at_once = argc > 1 && !strcmp(argv[1], "at-once");

    display = xcb_connect(NULL, NULL);
    if (xcb_connection_has_error(display))
        return fail("no display");
    xcb_window_t root = xcb_setup_roots_iterator(xcb_get_setup(display)).data->root;
    xcb_window_t window = window_await(root);
    if (!window)
        return fail("the display has gone");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !at_once; ++i) {
        window_resize(window, sizes[i][0], sizes[i][1]);
        if (!picture_await(window))
            return fail("the window has gone");
    }
    window_close(window);
    int error = xcb_connection_has_error(display);
    xcb_disconnect(display);
    return error ? fail("the display has gone") : 0;
}
