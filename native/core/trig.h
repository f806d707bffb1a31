/* SPDX-License-Identifier: MIT
 *
 * Sines, cosines and angles without branches and calls, so that loops over lanes become vector
 * instructions. Errors are less than 4e-16. The polynomials equal their functions at Chebyshev's
 * nodes. Even and odd powers are summed separately, so that neither sum waits for the other.
 */
#ifndef IK2B_TRIG_H
#define IK2B_TRIG_H

#include "ik2b.h"
#include "vector.h"

/* For a greater angle, too few digits of the remainder within a quarter turn are left. */
#define IK2B_LARGEST_ANGLE 1e6

/* A quarter turn, pi / 2, in three parts. The first two have so few digits that their products with
 * whole numbers of quarter turns are exact. */
#define IK2B_QUARTER_HIGH 0x1.921fb544p+0
#define IK2B_QUARTER_MIDDLE 0x1.0b4611a6p-34
#define IK2B_QUARTER_LOW 0x1.3198a2e037073p-69

/* The whole number nearest to a number below 2^51: a sum with 1.5 * 2^52 has no room for a
 * fraction. */
IK2B_IN_LINE double
nearest_whole(double number)
{
    const double no_fraction = 0x1.8p52;
    return (number + no_fraction) - no_fraction;
}

IK2B_IN_LINE void
sine_and_cosine(double angle, double *sine, double *cosine)
{
    double quarters = nearest_whole(angle * (2.0 / IK2B_PI));
    double x = angle - quarters * IK2B_QUARTER_HIGH;
    x -= quarters * IK2B_QUARTER_MIDDLE;
    x -= quarters * IK2B_QUARTER_LOW;
    double s = x * x, t = s * s;
    double of_sine =
        (-2.5051092507061385e-08 * t - 0.00019841269836387345) * t - 0.16666666666666666 +
        s * ((1.59153232122714e-10 * t + 2.755731591191116e-06) * t + 0.0083333333333307);
    double of_cosine =
        (2.087612165887116e-09 * t + 2.4801587298533456e-05) * t + 0.041666666666666664 -
        s * ((1.1380876948169717e-11 * t + 2.755731715246704e-07) * t + 0.0013888888888887241);
    double own_sine = x + x * s * of_sine, own_cosine = 1.0 - (0.5 * s - s * s * of_cosine);

    double quarter = quarters - 4.0 * nearest_whole(0.25 * quarters); /* -2 to 2 */
    double size = fabs(quarter);
    double upward = size == 1.0 ? own_cosine : own_sine;
    double onward = size == 1.0 ? own_sine : own_cosine;
    upward = size == 2.0 ? -upward : upward;
    onward = size == 2.0 ? -onward : onward;
    *sine = quarter == -1.0 ? -upward : upward;
    *cosine = quarter == 1.0 ? -onward : onward;
}

/* As sine_and_cosine, for any angle. */
static inline void
careful_sine_and_cosine(double angle, double *sine, double *cosine)
{
    sine_and_cosine(angle, sine, cosine);
    if (!(fabs(angle) <= IK2B_LARGEST_ANGLE)) {
        *sine = sin(angle);
        *cosine = cos(angle);
    }
}

/* The angle from (1, 0) to (x, y), as atan2(y, x); 0 for (0, 0). */
IK2B_IN_LINE double
angle_of(double y, double x)
{
    double width = fabs(x), height = fabs(y);
    double less = smaller(width, height), more = larger(width, height);
    bool beyond = less > 0.41421356237309503 * more; /* tan(pi / 8) */
    double numerator = beyond ? less - more : less, denominator = beyond ? less + more : more;
    double z = numerator / (denominator == 0.0 ? 1.0 : denominator), s = z * z, t = s * s;
    double even = 0.019175404711104935, odd = 0.03923044778479309;
    even = even * t + 0.050854078345894844;
    odd = odd * t + 0.05858140904866328;
    even = even * t + 0.06664510525508936;
    odd = odd * t + 0.07692183125376892;
    even = even * t + 0.0909090457530649;
    odd = odd * t + 0.11111111015187018;
    even = even * t + 0.14285714284665682;
    odd = odd * t + 0.19999999999995516;
    even = even * t + 0.3333333333333333;
    double angle = z + z * s * (s * odd - even);
    angle = beyond ? angle + 0.25 * IK2B_PI : angle;
    angle = height > width ? 0.5 * IK2B_PI - angle : angle;
    angle = x < 0.0 ? IK2B_PI - angle : angle;
    return y < 0.0 ? -angle : angle;
}

/* Replaces the sine and cosine of an angle by those of the angle times `part`. The sine and cosine
 * given may both be multiplied by any positive number. */
IK2B_IN_LINE void
part_of_angle(double part, double *sine, double *cosine)
{
    sine_and_cosine(part * angle_of(*sine, *cosine), sine, cosine);
}

#endif
