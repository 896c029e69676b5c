#include "specialize/draw.h"
#include "device/device.h"
VkResult bf_draw_plan(struct bf_draw *draw, struct bf_dummies *dummies,
                      const struct bf_check_subject *subject)
{
    (void)draw, (void)subject;
    return bf_dummies_refuse(dummies, "it draws");
}
VkResult bf_draw_build(struct bf_draw *draw)
{
    (void)draw;
    return VK_SUCCESS;
}
void bf_draw_finish(struct bf_draw *draw)
{
    (void)draw;
}
void bf_draw_record(const struct bf_draw *draw, VkCommandBuffer commands, uint32_t vertices,
                    uint32_t instances, uint32_t seed)
{
    (void)draw, (void)commands, (void)vertices, (void)instances, (void)seed;
}
