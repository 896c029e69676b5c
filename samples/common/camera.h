/* SPDX-License-Identifier: MIT */
/* A camera as three rows, which shaders multiply with points. */
#ifndef SAMPLE_CAMERA_H
#define SAMPLE_CAMERA_H

/* The dot product of a row and (point, 1) is the point's coordinate on that axis of the camera,
 * with the eye as the origin. */
struct sample_camera {
    float right[4], up[4], forward[4];
};

/* From eye towards at, with the y axis up. */
void sample_camera_look(struct sample_camera *camera, const float eye[3], const float at[3]);

#endif
