/* Part of angle_lanes.c: sine and its like of doubles. What a sum or a quotient loses to rounding is
   kept beside it and added last, so that the result errs by little more than its own rounding. */

/* An angle as one up to pi / 4, what that lost to rounding, and the number of its quarter. */
INLINE NAME(mask) NAME(reduced)(NAME(vector) x, NAME(vector) *angle, NAME(vector) *rest)
{
    NAME(vector) quarter = x * (1 / HALF_PI) + TO_INTEGER, back = TO_INTEGER - quarter;
    NAME(vector) near = FMA(back, ALL(HALF_PI), x); /* exact: both are multiples of 2^-53 */
    NAME(vector) more = back * REST_OF_PI_2, of_more = FMA(back, ALL(REST_OF_PI_2), -more);
    *angle = near + more;
    NAME(vector) added = *angle - near, lost = (near - (*angle - added)) + (more - added);
    *rest = FMA(back, ALL(LAST_OF_PI_2), lost + of_more);
    return (NAME(mask))quarter;
}

/* Sine and cosine of an angle up to pi / 4, and what they lost. */
INLINE void NAME(wide_pair)(NAME(vector) angle, NAME(vector) rest, NAME(vector) *sine,
                            NAME(vector) *of_sine, NAME(vector) *cosine, NAME(vector) *of_cosine)
{
    NAME(vector) z = angle * angle, lost = FMA(angle, angle, -z), half = z * 0.5;
    NAME(vector) bend = angle * z * NAME(polynomial)(WIDE_SINE, LENGTH(WIDE_SINE), z);
    bend += rest * (1 - half);
    *sine = angle + bend;
    *of_sine = (angle - *sine) + bend;
    NAME(vector) most = 1 - half;
    bend = z * z * NAME(polynomial)(WIDE_COSINE, LENGTH(WIDE_COSINE), z);
    bend += ((1 - most) - half) - (angle * rest + 0.5 * lost);
    *cosine = most + bend;
    *of_cosine = (most - *cosine) + bend;
}

INLINE NAME(vector) NAME(wide_sine)(NAME(vector) x, int ahead)
{
    NAME(vector) angle, rest, sine, cosine, of_sine, of_cosine;
    NAME(mask) quarter = NAME(reduced)(x, &angle, &rest) + ahead;
    NAME(wide_pair)(angle, rest, &sine, &of_sine, &cosine, &of_cosine);
    return SIGNED(IF(-(quarter & 1), cosine, sine), (quarter & 2) << 62);
}

INLINE NAME(vector) NAME(wide_tangent)(NAME(vector) x)
{
    NAME(vector) angle, rest, sine, cosine, of_sine, of_cosine;
    NAME(mask) odd = -(NAME(reduced)(x, &angle, &rest) & 1);
    NAME(wide_pair)(angle, rest, &sine, &of_sine, &cosine, &of_cosine);
    NAME(vector) above = IF(odd, -cosine, sine), below = IF(odd, sine, cosine);
    NAME(vector) lost = IF(odd, -of_cosine, of_sine), of_below = IF(odd, of_sine, of_cosine);
    NAME(vector) slope = above / below;
    return slope + (FMA(-slope, below, above) + lost - slope * of_below) / below;
}

/* The angle of a sine, or of a cosine; of large ones by the half of what is left of a right angle. */
INLINE NAME(vector) NAME(wide_arcsine)(NAME(vector) x, int of_cosine)
{
    NAME(vector) size = SIZE(x), rest = (1 - size) * 0.5;
    NAME(mask) large = size > 0.5;
    NAME(vector) z = IF(large, rest, size * size), sine = IF(large, ROOT(rest), size);
    NAME(vector) lost = FMA(-sine, sine, rest) / IF(sine == 0, ALL(1), sine + sine);
    NAME(vector) bend = sine * z * NAME(polynomial)(WIDE_ARCSINE, LENGTH(WIDE_ARCSINE), z);
    bend += IF(large, lost, ALL(0));
    if (of_cosine) {
        NAME(mask) negative = SIGN_OF(x) >> 63;
        NAME(vector) whole = IF(large, IF(negative, ALL(2), ALL(0)), ALL(1));
        NAME(vector) part = IF(large, 2 * sine, sine), more = IF(large, 2 * bend, bend);
        NAME(mask) sign = ~(large ^ negative) & SIGN; /* taken from what is whole, or added to it */
        part = SIGNED(part, sign);
        NAME(vector) right = whole * HALF_PI, sum = right + part;
        return sum + (((right - sum) + part) + (whole * REST_OF_PI_2 + SIGNED(more, sign)));
    }
    NAME(vector) far = HALF_PI - 2 * sine;
    far += ((HALF_PI - far) - 2 * sine) + (REST_OF_PI_2 - 2 * bend);
    return SIGNED(IF(large, far, sine + bend), SIGN_OF(x));
}

/* The angle of a point, as `arctangent` has it. */
INLINE NAME(vector) NAME(wide_arctangent)(NAME(vector) y, NAME(vector) x)
{
    NAME(vector) up = SIZE(y), along = SIZE(x);
    NAME(mask) steep = up > along;
    NAME(vector) larger = IF(steep, up, along), smaller = IF(steep, along, up);
    NAME(vector) scale = IF(larger > 0x1p1000, ALL(0x1p-200), ALL(1));
    scale = IF(larger < 0x1p-800, ALL(0x1p200), scale);
    larger *= scale;
    smaller *= scale;
    NAME(mask) equal = smaller == larger;
    NAME(mask) far = (smaller > larger * TAN_OF_HALF) | (equal & (larger > 0));
    NAME(vector) sum = larger + smaller, difference = smaller - larger;
    NAME(vector) above = IF(equal, ALL(0), IF(far, difference, smaller));
    NAME(vector) below = IF(larger == 0, ALL(1), IF(far, sum, larger));
    NAME(vector) of_above = smaller - (difference + larger), of_below = (larger - sum) + smaller;
    NAME(vector) slope = above / below, z = slope * slope;
    NAME(vector) lost = FMA(-slope, below, above) + IF(far, of_above - slope * of_below, ALL(0));
    lost = IF(equal | (larger == HUGE_VAL), ALL(0), lost / below);
    NAME(vector) bend =
        slope * z * NAME(polynomial)(WIDE_ARCTANGENT, LENGTH(WIDE_ARCTANGENT), z);
    bend += lost * (1 - z);
    NAME(mask) back = SIGN_OF(x) >> 63;
    NAME(vector) eighths = IF(far, ALL(1), ALL(0));
    eighths = IF(steep, 2 - eighths, eighths);
    eighths = IF(back, 4 - eighths, eighths);
    NAME(mask) sign = (steep ^ back) & SIGN;
    slope = SIGNED(slope, sign);
    NAME(vector) whole = eighths * (HALF_PI / 2), angle = whole + slope;
    NAME(vector) of_whole = FMA(eighths, ALL(HALF_PI / 2), -whole) + eighths * (REST_OF_PI_2 / 2);
    angle += ((whole - angle) + slope) + (of_whole + SIGNED(bend, sign));
    return SIGNED(angle, SIGN_OF(y));
}

/* What `function` gives of doubles, or of pairs of them. It is a constant where this is inlined. */
INLINE NAME(vector) NAME(wide_found)(enum Function function, NAME(vector) x, NAME(vector) other)
{
    NAME(vector) found;
    if (function == SIN || function == COS)
        found = NAME(wide_sine)(x, function == COS);
    else if (function == TAN)
        found = NAME(wide_tangent)(x);
    else if (function == ASIN || function == ACOS)
        found = NAME(wide_arcsine)(x, function == ACOS);
    else
        found = NAME(wide_arctangent)(x, function == ATAN2 ? other : ALL(1));
    if (function == COS || function == ACOS || function == ATAN2)
        return found;
    return IF(SIZE(x) < WIDE_LITTLE, x, found);
}

EACH(wide_each, double, NAME(vector), wide_found)
