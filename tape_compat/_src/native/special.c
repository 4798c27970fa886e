/* Part of kernels.c, behind its threads: functions that are sums of as many terms as a number needs.
   XLA takes all numbers of an array through as many rounds as the worst. They are computed in double
   precision; sums end with a term that is below `least` of them. */

enum Special { IGAMMA, IGAMMAC, IGAMMA_GRAD_A, ZETA, POLYGAMMA, BETAINC, RANDOM_GAMMA_GRAD };

/* More rounds than any number needs that gives another result than 0 or 1. */
#define ROUNDS 100000
/* Stands for a zero that is divided by. */
#define NOTHING 1e-290

/* What Stirling's formula leaves of log(gamma(x)), for x from 20 on. DLMF 5.11.1. */
static double stirling_rest(double x)
{
    double b = 1 / (x * x);
    return (1. / 12 - b * (1. / 360 - b * (1. / 1260 - b * (1. / 1680)))) / x;
}

/* x^a exp(-x) / gamma(a); of large a by Stirling's series, whose terms cancel no digits. */
static double density(double a, double x)
{
    if (a < 20)
        return x > 1000 ? 0 : pow(x, a) * exp(-x) / tgamma(a);
    double far = (x - a) / a;
    return sqrt(a / (2 * 3.141592653589793)) * exp(a * (log1p(far) - far) - stirling_rest(a));
}

/* The derivative of log(gamma(x)) for x above 0. */
static double digamma_of(double x)
{
    double sum = 0;
    for (; x < 10; x += 1)
        sum -= 1 / x;
    double b = 1 / (x * x);
    double far = b * (1. / 132 - b * (691. / 32760 - b / 12));
    double rest = b * (1. / 12 - b * (1. / 120 - b * (1. / 252 - b * (1. / 240 - far))));
    return sum + log(x) - 0.5 / x - rest;
}

/* The lower function by its series, for x up to a; and its derivative by a, in units of `density`.
   DLMF 8.7.1. */
static double lower_gamma(double a, double x, double least, double *by_a)
{
    double term = 1 / a, sum = term, slope = -term / a, slopes = slope;
    for (int n = 1; n < ROUNDS; n++) {
        double r = a + n, t = x / r;
        term *= t;
        sum += term;
        if (by_a) {
            slope = slope * t - term / r;
            slopes += slope;
        }
        if (term < sum * least && (!by_a || fabs(slope) < fabs(slopes) * least))
            break;
    }
    if (by_a)
        *by_a = slopes + sum * (log(x) - digamma_of(a));
    return density(a, x) * sum;
}

/* The upper function by its continued fraction, for x above a and 1; and its derivative by a, in units
   of `density`. DLMF 8.9.2, by Lentz's algorithm. */
static double upper_gamma(double a, double x, double least, double *by_a)
{
    double b = x + 1 - a, c = 1 / NOTHING, d = 1 / b, found = d;
    double slope_c = 0, slope_d = d * d, slope = slope_d;
    for (int n = 1; n < ROUNDS; n++) {
        double top = -n * (n - a), next = b + 2 + top / c, below = b + 2 + top * d;
        b += 2;
        next = fabs(next) < NOTHING ? NOTHING : next;
        below = fabs(below) < NOTHING ? NOTHING : below;
        double factor = next / below, more = 0;
        if (by_a) {
            double of_below = n * d + top * slope_d - 1;
            double of_next = (n - top * slope_c / c) / c - 1;
            more = found * (of_next - factor * of_below) / below;
            slope_d = -of_below / (below * below);
            slope_c = of_next;
            slope = slope * factor + more;
        }
        d = 1 / below;
        c = next;
        found *= factor;
        if (fabs(factor - 1) <= 2 * least && fabs(more) <= fabs(slope) * 2 * least)
            break;
    }
    if (by_a)
        *by_a = slope + found * (log(x) - digamma_of(a));
    return density(a, x) * found;
}

/* An `a` from which sums have too many terms. */
#define FAR 1e6

/* The lower function of a large `a`, where not `upper`; the derivative of it by a, in units of `scale`.
   DLMF 8.12.3, whose terms are worked out near x = a: elsewhere it is 0 or 1, as at half or twice a. */
static double far_gamma(double a, double x, int upper, double *by_a, double *scale)
{
    double m = fmin(fmax((x - a) / a, -0.5), 1), l = log1p(m), half = (m - l) / (m * m);
    if (fabs(m) < 0.1) {
        half = 0;
        for (int n = 19; n >= 2; n--)
            half = 1. / n - m * half;
    }
    double root = sqrt(2 * half), eta = m * root;
    double power = a * (m * m * half);
    *scale = exp(-power) / sqrt(2 * 3.141592653589793 * a);
    double c = -1. / 3 + eta * (1. / 12 + eta * (-2. / 135 + eta * (1. / 864 + eta / 2835)));
    c += (-1. / 540 - eta / 288) / a;
    if (by_a) {
        double slope = 1. / 12 + eta * (-4. / 135 + eta * (3. / 864 + eta * (4. / 2835)));
        double ratio = m == 0 ? 1 : l / eta;
        *by_a = -(ratio + c * (l - 0.5 / a) - slope / (root * a));
    }
    double near = copysign(sqrt(power), m);
    return upper ? erfc(near) / 2 + *scale * c : erfc(-near) / 2 - *scale * c;
}

/* Values at the ends are TensorFlow's. */
static double igamma_of(double a, double x, double least)
{
    if (x == 0)
        return 0;
    if (!(x > 0) || !(a > 0))
        return NAN;
    if (isinf(a) || isinf(x))
        return isinf(a) ? 0 : 1;
    double scale;
    if (a > FAR)
        return far_gamma(a, x, 0, NULL, &scale);
    return x > 1 && x > a ? 1 - upper_gamma(a, x, least, NULL) : lower_gamma(a, x, least, NULL);
}

static double igammac_of(double a, double x, double least)
{
    if (!(x >= 0) || !(a > 0))
        return NAN;
    if (isinf(x))
        return 0;
    if (isinf(a) || x == 0)
        return 1;
    double scale;
    if (a > FAR)
        return far_gamma(a, x, 1, NULL, &scale);
    return x > 1 && x > a ? upper_gamma(a, x, least, NULL) : 1 - lower_gamma(a, x, least, NULL);
}

/* The derivative of the lower function by a, for x and a between 0 and infinity, in units of `scale`. */
static double lower_by_a(double a, double x, double least, double *scale)
{
    double found;
    if (a > FAR) {
        far_gamma(a, x, 0, &found, scale);
        return found;
    }
    *scale = density(a, x);
    if (x > 1 && x > a) {
        upper_gamma(a, x, least, &found);
        return -found;
    }
    if (a > 0.1) {
        lower_gamma(a, x, least, &found);
        return found;
    }
    /* The series cancels as many digits as `a` has zeros: DLMF 8.8.5. */
    lower_gamma(a + 1, x, least, &found);
    return (found * x + log(x) - digamma_of(a + 1)) / a;
}

/* That derivative, or how a draw x moves with a: by its density. Values at the ends are TensorFlow's. */
static double moved_by_a(double a, double x, double least, int draw)
{
    double scale;
    if (x == 0)
        return 0;
    if (!(x > 0) || !(a > 0))
        return NAN;
    if (isinf(a) || isinf(x))
        return 0;
    double found = lower_by_a(a, x, least, &scale);
    if (!draw)
        return scale * found;
    return -found * x * (a > FAR ? (1 + 1 / (12 * a)) / a : 1);
}

static double igamma_grad_a_of(double a, double x, double least)
{
    return moved_by_a(a, x, least, 0);
}

static double random_gamma_grad_of(double a, double x, double least)
{
    return moved_by_a(a, x, least, 1);
}

/* B(2 k) / (2 k)! */
static const double OF_BERNOULLI[] = {
    1. / 12, -1. / 720, 1. / 30240, -1. / 1209600, 1. / 47900160, -691. / 1307674368000.,
    1. / 74724249600., -3617. / 10670622842880000., 43867. / 5109094217170944000.,
    -174611. / 802857662698291200000., 77683. / 14101100039391805440000.,
};

/* Hurwitz' zeta function of q above 0: terms, then what is left by the formula of Euler and Maclaurin.
   DLMF 2.10.1. */
static double zeta_of_positive(double x, double q, double least)
{
    double sum = pow(q, -x), term = sum;
    double enough = least < 0x1p-40 ? 6 + 1.3 * x : 3 + 0.6 * x;
    if (sum == 0 || isinf(sum))
        return sum;
    while (q < enough) {
        q += 1;
        term = pow(q, -x);
        sum += term;
        if (fabs(term) < fabs(sum) * least)
            return sum;
    }
    double rise = x / q, b = 1 / (q * q);
    sum += term * (q / (x - 1) - 0.5);
    for (int k = 0; k < (int)(sizeof OF_BERNOULLI / sizeof *OF_BERNOULLI); k++) {
        double more = term * rise * OF_BERNOULLI[k];
        sum += more;
        if (fabs(more) < fabs(sum) * least)
            break;
        rise *= (x + 2 * k + 1) * (x + 2 * k + 2) * b;
    }
    return sum;
}

/* Of whole x and q below 0, between poles: the sum over all whole numbers has a period of 1, and two
   of these make it. DLMF 5.15.6. */
static double zeta_of_negative(double x, double q, double least)
{
    double behind = ceil(q) - q, sign = fmod(x, 2) == 0 ? 1 : -1;
    double near = zeta_of_positive(x, behind, least);
    double other = zeta_of_positive(x, 1 - behind, least);
    if (isinf(near) && behind <= 0.5)
        return sign * near;
    return other + sign * near - sign * zeta_of_positive(x, 1 - q, least);
}

/* Values at the ends are TensorFlow's. */
static double zeta_of(double x, double q, double least)
{
    if (x == 1)
        return INFINITY;
    if (!(x > 1) || isnan(q))
        return NAN;
    if (q <= 0 && q == floor(q))
        return isinf(x) || fmod(x, 2) == 0 ? INFINITY : NAN;
    if (q <= 0 && x != floor(x))
        return NAN;
    if (isinf(x))
        return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
    if (isinf(q))
        return 0;
    return q < 0 ? zeta_of_negative(x, q, least) : zeta_of_positive(x, q, least);
}

/* For order above 0. */
static double polygamma_of(double order, double x, double least)
{
    if (order != floor(order))
        return NAN;
    double found = tgamma(order + 1) * zeta_of(order + 1, x, least);
    return fmod(order + 1, 2) == 1 ? -found : found;
}

/* By its continued fraction, for x up to (a + 1) / (a + b + 2), without the factor in front. DLMF
   8.17.22, by Lentz's algorithm. */
static double beta_fraction(double a, double b, double x, double least)
{
    double c = 1, below = 1 - (a + b) * x / (a + 1);
    double d = 1 / (fabs(below) < NOTHING ? NOTHING : below), found = d;
    for (int m = 1; m < ROUNDS; m++) {
        double factor = 1;
        double tops[] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                         -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        for (int i = 0; i < 2; i++) {
            below = 1 + tops[i] * d;
            d = 1 / (fabs(below) < NOTHING ? NOTHING : below);
            c = 1 + tops[i] / c;
            c = fabs(c) < NOTHING ? NOTHING : c;
            factor *= c * d;
        }
        found *= factor;
        if (fabs(factor - 1) <= 2 * least)
            break;
    }
    return found;
}

/* Values at the ends are TensorFlow's. */
static double betainc_of(double a, double b, double x, double least)
{
    if (a <= 0 || b <= 0)
        return NAN;
    if (x == 0 || x == 1)
        return x == 1;
    if (!(a + b < INFINITY) || !(x > 0) || !(x < 1))
        return NAN;
    double scale;
    if (a + b < 100)
        scale = pow(x, a) * pow(1 - x, b) * (tgamma(a + b) / tgamma(a) / tgamma(b));
    else { /* of the larger one gamma(a + b) / gamma(a), which loses no digits so */
        double large = fmax(a, b), little = fmin(a, b), sum = a + b;
        double ratio = (large - 0.5) * log1p(little / large) + little * (log(sum) - 1);
        ratio += stirling_rest(sum) - stirling_rest(large) - lgamma(little);
        scale = exp(a * log(x) + b * log1p(-x) + ratio);
    }
    if (x < (a + 1) / (a + b + 2))
        return scale * beta_fraction(a, b, x, least) / a;
    return 1 - scale * beta_fraction(b, a, 1 - x, least) / b;
}

typedef struct {
    Job job; /* first: a task finds the rest behind it */
    double (*function)(double, double, double);
    int wide; /* of doubles */
    const void *x, *y, *z; /* with the third, it is the function of three */
    void *out;
    long n;
} Specials;

/* Numbers that a task does. */
#define NUMBERS_OF_SPECIALS 128

static double number_at(const void *array, long i, int wide)
{
    return wide ? ((const double *)array)[i] : ((const float *)array)[i];
}

static void special_task(const Job *job, long number, float *scratch)
{
    const Specials *s = (const Specials *)job;
    long first = number * NUMBERS_OF_SPECIALS, end = first + NUMBERS_OF_SPECIALS;
    end = smaller(end, s->n);
    (void)scratch;
    unsigned kept = with_subnormals();
    double least = s->wide ? 0x1p-53 : 0x1p-30;
    for (long i = first; i < end; i++) {
        double x = number_at(s->x, i, s->wide), y = number_at(s->y, i, s->wide);
        double found = s->z ? betainc_of(x, y, number_at(s->z, i, s->wide), least)
                            : s->function(x, y, least);
        if (s->wide)
            ((double *)s->out)[i] = found;
        else
            ((float *)s->out)[i] = (float)found;
    }
    as_before(kept);
}

/* Prepare one function of the pairs of two arrays, or of three; a number tells which. */
static int prepare(Specials *s, int64_t number, int64_t arrays)
{
    static double (*const functions[])(double, double, double) = {
        [IGAMMA] = igamma_of,
        [IGAMMAC] = igammac_of,
        [IGAMMA_GRAD_A] = igamma_grad_a_of,
        [ZETA] = zeta_of,
        [POLYGAMMA] = polygamma_of,
        [BETAINC] = NULL,
        [RANDOM_GAMMA_GRAD] = random_gamma_grad_of,
    };
    if (number < IGAMMA || number > RANDOM_GAMMA_GRAD || arrays != (number == BETAINC ? 3 : 2))
        return 0;
    s->function = functions[number];
    s->job = (Job){.task = special_task, .tasks = parts(s->n, NUMBERS_OF_SPECIALS)};
    return 1;
}

static enum Outcome do_special(const XLA_FFI_CallFrame *call)
{
    Specials s = {0};
    int64_t number = function_of(call, &s.n, &s.wide);
    if (!prepare(&s, number, call->args.size))
        return UNFIT;
    s.out = data_of(call->rets.args[0]);
    s.x = data_of(call->args.args[0]);
    s.y = data_of(call->args.args[1]);
    s.z = number == BETAINC ? data_of(call->args.args[2]) : NULL;
    Threads threads = threads_of_program(call);
    return perform(&threads, &s.job) ? DONE : NO_MEMORY;
}
