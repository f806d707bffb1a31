/* SPDX-License-Identifier: MIT
 *
 * The numbers, vectors, matrices and quaternions of the fast twin, and a row of arguments.
 */
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>

#ifdef NARROW
typedef double real;
#else
typedef long double real;
#endif

#define PI 3.14159265358979323846

/* Vectors, matrices of three columns, quaternions */

typedef struct {
    real x, y, z;
} vec;
typedef struct {
    vec x, y, z;
} mat;
typedef struct {
    real w;
    vec v;
} quat;

static const quat IDENTITY = {1, {0, 0, 0}};
static const mat UNIT = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

static vec add(vec a, vec b) { return (vec){a.x + b.x, a.y + b.y, a.z + b.z}; }
static vec sub(vec a, vec b) { return (vec){a.x - b.x, a.y - b.y, a.z - b.z}; }
static vec mul(real k, vec a) { return (vec){k * a.x, k * a.y, k * a.z}; }
static real dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static real length(vec a) { return sqrt(dot(a, a)); }
static vec unit(vec a) { return mul(1 / length(a), a); }
static bool any(vec a) { return a.x != 0 || a.y != 0 || a.z != 0; }
static bool equal(vec a, vec b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
static vec reject(vec a, vec axis) { return sub(a, mul(dot(a, axis), axis)); }
static real clamp(real x, real least, real greatest) { return fmin(fmax(x, least), greatest); }
static real largest(vec a) { return fmax(fmax(fabs(a.x), fabs(a.y)), fabs(a.z)); }

static vec
cross(vec a, vec b)
{
    return (vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static real
angle_between(vec a, vec b)
{
    return atan2(length(cross(a, b)), dot(a, b));
}

static vec
perpendicular(vec a)
{
    real x = fabs(a.x), y = fabs(a.y), z = fabs(a.z);
    vec axis = x <= y && x <= z ? UNIT.x : y <= z ? UNIT.y : UNIT.z;
    return unit(cross(a, axis));
}

static vec apply(mat m, vec a) { return add(add(mul(a.x, m.x), mul(a.y, m.y)), mul(a.z, m.z)); }
static mat times(mat a, mat b) { return (mat){apply(a, b.x), apply(a, b.y), apply(a, b.z)}; }
static mat scaled(real k, mat m) { return (mat){mul(k, m.x), mul(k, m.y), mul(k, m.z)}; }
static mat cofactor(mat m) { return (mat){cross(m.y, m.z), cross(m.z, m.x), cross(m.x, m.y)}; }
static real determinant(mat m) { return dot(m.x, cross(m.y, m.z)); }
static real size(mat m) { return sqrt(dot(m.x, m.x) + dot(m.y, m.y) + dot(m.z, m.z)); }

static mat
transposed(mat m)
{
    return (mat){{m.x.x, m.y.x, m.z.x}, {m.x.y, m.y.y, m.z.y}, {m.x.z, m.y.z, m.z.z}};
}

static mat
inverse(mat m)
{
    return scaled(1 / determinant(m), transposed(cofactor(m)));
}

static quat
product(quat q, quat r)
{
    vec v = add(add(mul(q.w, r.v), mul(r.w, q.v)), cross(q.v, r.v));
    return (quat){q.w * r.w - dot(q.v, r.v), v};
}

static quat
about(vec axis, real angle)
{
    return (quat){cos(angle / 2), mul(sin(angle / 2), unit(axis))};
}

static vec
turned(quat q, vec a)
{
    vec b = cross(q.v, a);
    return add(a, mul(2 / (q.w * q.w + dot(q.v, q.v)), add(mul(q.w, b), cross(q.v, b))));
}

static mat
matrix(quat q)
{
    return (mat){turned(q, UNIT.x), turned(q, UNIT.y), turned(q, UNIT.z)};
}

static quat
opposed(quat q)
{
    return (quat){q.w, mul(-1, q.v)};
}

/* The quaternion of a rotation matrix with w >= 0, computed from the largest component (Shepperd 1978). */
static quat
quaternion(mat m)
{
    real k[4] = {m.x.x + m.y.y + m.z.z, m.x.x - m.y.y - m.z.z, m.y.y - m.x.x - m.z.z, m.z.z - m.x.x - m.y.y};
    real s[3] = {m.y.z - m.z.y, m.z.x - m.x.z, m.x.y - m.y.x};
    real p[3] = {m.y.z + m.z.y, m.z.x + m.x.z, m.x.y + m.y.x};
    int best = 0;
    for (int i = 1; i < 4; i++) {
        best = k[i] > k[best] ? i : best;
    }
    quat q = best == 0   ? (quat){1 + k[0], {s[0], s[1], s[2]}}
             : best == 1 ? (quat){s[0], {1 + k[1], p[2], p[1]}}
             : best == 2 ? (quat){s[1], {p[2], 1 + k[2], p[0]}}
                         : (quat){s[2], {p[1], p[0], 1 + k[3]}};
    real factor = (q.w < 0 ? -1 : 1) / sqrt(q.w * q.w + dot(q.v, q.v));
    return (quat){factor * q.w, mul(factor, q.v)};
}

/* The rotation of the polar decomposition of a matrix with det > 0: Newton's iteration with Higham's scale (1986). */
static mat
polar(mat m)
{
    for (int step = 0; step < 60; step++) {
        mat other = transposed(inverse(m));
        real k = sqrt(size(other) / size(m));
        mat next = {mul(0.5, add(mul(k, m.x), mul(1 / k, other.x))), mul(0.5, add(mul(k, m.y), mul(1 / k, other.y))),
                    mul(0.5, add(mul(k, m.z), mul(1 / k, other.z)))};
        mat change = {sub(next.x, m.x), sub(next.y, m.y), sub(next.z, m.z)};
        m = next;
        if (!(size(change) > 1e-15 * size(m))) {
            break;
        }
    }
    return m;
}

/* The eigenvectors and eigenvalues of a symmetric matrix by Jacobi's rotations. */
static mat
eigenvectors(mat h, real values[3])
{
    real a[3][3] = {{h.x.x, h.x.y, h.x.z}, {h.y.x, h.y.y, h.y.z}, {h.z.x, h.z.y, h.z.z}};
    real v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}; /* rows */
    for (int step = 0; step < 60; step++) {
        int i = step % 3, j = (step + 1) % 3;
        if (a[i][j] == 0) {
            continue;
        }
        real angle = 0.5 * atan(2 * a[i][j] / (a[j][j] - a[i][i])), c = cos(angle), s = sin(angle);
        for (int k = 0; k < 3; k++) {
            real p = a[k][i], q = a[k][j];
            a[k][i] = c * p - s * q;
            a[k][j] = s * p + c * q;
        }
        for (int k = 0; k < 3; k++) {
            real p = a[i][k], q = a[j][k], r = v[i][k], t = v[j][k];
            a[i][k] = c * p - s * q;
            a[j][k] = s * p + c * q;
            v[i][k] = c * r - s * t;
            v[j][k] = s * r + c * t;
        }
        a[i][j] = a[j][i] = 0;
    }
    for (int i = 0; i < 3; i++) {
        values[i] = a[i][i];
    }
    return (mat){{v[0][0], v[0][1], v[0][2]}, {v[1][0], v[1][1], v[1][2]}, {v[2][0], v[2][1], v[2][2]}};
}

/* The rotation nearest to a matrix. For a mirrored matrix: half a turn about the axis of least scale, and then the
 * polar rotation of its negative. */
static mat
nearest_rotation(mat m)
{
    if (determinant(m) > 0) {
        return polar(m);
    }
    real values[3];
    mat rotation = polar(scaled(-1, m)), vectors = eigenvectors(times(transposed(rotation), scaled(-1, m)), values);
    vec each[3] = {vectors.x, vectors.y, vectors.z}, own[3] = {UNIT.x, UNIT.y, UNIT.z}, axis = {0, 0, 0};
    real least = fmin(fmin(values[0], values[1]), values[2]), most = fmax(fmax(values[0], values[1]), values[2]);
    for (int i = 0; i < 3 && length(axis) <= 0.5; i++) {
        axis = (vec){0, 0, 0};
        for (int k = 0; k < 3; k++) {
            axis = values[k] - least <= 1e-5 * most ? add(axis, mul(dot(own[i], each[k]), each[k])) : axis;
        }
    }
    return times(rotation, matrix((quat){0, unit(axis)}));
}

/* Tolerances, in units of the reach */

typedef struct {
    real eps, accuracy, straight, moved, parallel, flat; /* flat: of singular matrices */
} precision;

static const precision SINGLE = {0x1p-23, 1e-6, 1e-5, 1e-6, 16 * 0x1p-23, 16 * 0x1p-23};
static const precision DOUBLE = {0x1p-52, 2e-14, 1e-12, 1e-12, 16 * 0x1p-52, 16 * 0x1p-52};

static quat
shortest(vec a, vec b)
{
    vec sum = add(a, b), difference = sub(b, a);
    real s = length(sum), d = length(difference), whole = sqrt(s * s + d * d);
    vec normal = reject(cross(a, s < d ? sum : difference), a);
    return any(normal) ? (quat){s / whole, mul(d / whole, unit(normal))} : IDENTITY;
}

static quat
arc(vec a, vec b, vec axis, const precision *is, bool *opposite)
{
    a = unit(a), b = unit(b);
    *opposite = !(length(add(a, b)) > is->parallel);
    if (!*opposite) {
        return shortest(a, b);
    }
    return product(shortest(mul(-1, a), b), (quat){0, unit(reject(axis, a))});
}

/* The numbers of a row */

/* INPUT(name, count of numbers, their meaning) */
#define INPUTS(INPUT)                                                                                                  \
    INPUT(ROOT, 3, POINT)                                                                                              \
    INPUT(MID, 3, POINT)                                                                                               \
    INPUT(END, 3, POINT)                                                                                               \
    INPUT(TARGET, 3, POINT)                                                                                            \
    INPUT(NEW_MID, 3, POINT)                                                                                           \
    INPUT(NEW_END, 3, POINT)                                                                                           \
    INPUT(ROOT_MATRIX, 16, MATRIX)                                                                                     \
    INPUT(MID_MATRIX, 16, MATRIX)                                                                                      \
    INPUT(END_MATRIX, 16, MATRIX)                                                                                      \
    INPUT(END_GOAL, 16, MATRIX)                                                                                        \
    INPUT(POLE, 3, DIRECTION)                                                                                          \
    INPUT(HINGE, 3, DIRECTION)                                                                                         \
    INPUT(CONE_AXIS, 3, DIRECTION)                                                                                     \
    INPUT(ROOT_SCALE, 3, DIRECTION)                                                                                    \
    INPUT(MID_SCALE, 3, DIRECTION)                                                                                     \
    INPUT(POLE_WEIGHT, 1, NUMBER)                                                                                      \
    INPUT(TWIST, 1, NUMBER)                                                                                            \
    INPUT(SOFTEN, 1, NUMBER)                                                                                           \
    INPUT(WEIGHT, 1, NUMBER)                                                                                           \
    INPUT(MIN_ANGLE, 1, NUMBER)                                                                                        \
    INPUT(MAX_ANGLE, 1, NUMBER)                                                                                        \
    INPUT(CONE_ANGLE, 1, NUMBER)                                                                                       \
    INPUT(Q, 4, DIRECTION)                                                                                             \
    INPUT(R, 4, DIRECTION)

typedef enum { POINT, MATRIX, DIRECTION, NUMBER } meaning;
#define AS_NAME(name, count, what) name,
#define AS_COUNT(name, count, what) count,
#define AS_MEANING(name, count, what) what,
#define AS_TEXT(name, count, what) #name " "
enum { INPUTS(AS_NAME) INPUT_COUNT };
static const int COUNTS[] = {INPUTS(AS_COUNT)};
static const meaning MEANINGS[] = {INPUTS(AS_MEANING)};
const char twin_inputs[] = INPUTS(AS_TEXT);

typedef struct {
    const precision *is;
    bool nearest, rolling;
    real rounding; /* the rounding of lengths, in reaches, before a square root computes heights from them */
    bool given[INPUT_COUNT];
    real numbers[INPUT_COUNT][16];
} row;

static vec
vector(const row *r, int name)
{
    const real *v = r->numbers[name];
    return r->given[name] ? (vec){v[0], v[1], v[2]} : (vec){0, 0, 0};
}

static real
number(const row *r, int name, real missing)
{
    return r->given[name] ? r->numbers[name][0] : missing;
}

static real
number01(const row *r, int name)
{
    return clamp(number(r, name, 1), 0, 1);
}

static vec
place_of(const row *r, int name)
{
    const real *m = r->numbers[name];
    return (vec){m[3], m[7], m[11]};
}

static mat
linear(const row *r, int name)
{
    const real *m = r->numbers[name];
    return (mat){{m[0], m[4], m[8]}, {m[1], m[5], m[9]}, {m[2], m[6], m[10]}};
}

static bool
all_finite(const row *r)
{
    real sum = 0;
    for (int name = 0; name < INPUT_COUNT; name++) {
        for (int i = 0; r->given[name] && i < COUNTS[name]; i++) {
            sum += r->numbers[name][i] - r->numbers[name][i];
        }
    }
    return sum == 0;
}
