/* SPDX-License-Identifier: MIT */
/* A camera as three rows, which shaders multiply with points. */
#include "camera.h"

#include <math.h>

static void row_store(float row[4], const float axis[3], const float eye[3])
{
    float length = sqrtf(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);

    row[3] = 0.0f;
    for (int i = 0; i < 3; ++i) {
        row[i] = axis[i] / length;
        row[3] -= row[i] * eye[i];
    }
}

void sample_camera_look(struct sample_camera *camera, const float eye[3], const float at[3])
{
    const float ahead[3] = {at[0] - eye[0], at[1] - eye[1], at[2] - eye[2]};
    row_store(camera->forward, ahead, eye);
    const float *f = camera->forward;
    const float right[3] = {-f[2], 0.0f, f[0]}; /* forward x y axis */
    row_store(camera->right, right, eye);
    const float *r = camera->right;
    const float up[3] = {r[1] * f[2] - r[2] * f[1], r[2] * f[0] - r[0] * f[2],
                         r[0] * f[1] - r[1] * f[0]};
    row_store(camera->up, up, eye);
}
