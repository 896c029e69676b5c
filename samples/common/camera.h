/* SPDX-License-Identifier: MIT */
/* A camera as three rows that shaders multiply points with. */
#ifndef SAMPLE_CAMERA_H
#define SAMPLE_CAMERA_H

/* The dot product of a row with (point, 1) is the point's coordinate along that axis, seen from the
 * eye. */
struct sample_camera {
    float right[4], up[4], forward[4];
};

/* From eye towards at, with the y axis up. */
void sample_camera_look(struct sample_camera *camera, const float eye[3], const float at[3]);

#endif
