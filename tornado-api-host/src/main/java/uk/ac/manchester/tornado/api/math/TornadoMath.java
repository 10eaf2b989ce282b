package uk.ac.manchester.tornado.api.math;

/**
 * Functions that a kernel may call. Here they are Java's own, computed in double where Java has no float version, and narrowed.
 *
 * <p>On a device {@link #exp}, {@link #log}, {@link #pow}, {@link #sin}, {@link #cos} and {@link #tanh} are the driver's:
 * approximate, and different from device to device, so strict kernels do not call them.
 */
public class TornadoMath {

    public static float min(float a, float b) {
        return Math.min(a, b);
    }

    public static double min(double a, double b) {
        return Math.min(a, b);
    }

    public static int min(int a, int b) {
        return Math.min(a, b);
    }

    public static long min(long a, long b) {
        return Math.min(a, b);
    }

    public static float max(float a, float b) {
        return Math.max(a, b);
    }

    public static double max(double a, double b) {
        return Math.max(a, b);
    }

    public static int max(int a, int b) {
        return Math.max(a, b);
    }

    public static long max(long a, long b) {
        return Math.max(a, b);
    }

    public static float abs(float a) {
        return Math.abs(a);
    }

    public static double abs(double a) {
        return Math.abs(a);
    }

    public static int abs(int a) {
        return Math.abs(a);
    }

    public static long abs(long a) {
        return Math.abs(a);
    }

    public static float sqrt(float a) {
        return (float) Math.sqrt(a);
    }

    public static double sqrt(double a) {
        return Math.sqrt(a);
    }

    public static float exp(float a) {
        return (float) Math.exp(a);
    }

    public static double exp(double a) {
        return Math.exp(a);
    }

    public static float log(float a) {
        return (float) Math.log(a);
    }

    public static double log(double a) {
        return Math.log(a);
    }

    public static float sin(float a) {
        return (float) Math.sin(a);
    }

    public static double sin(double a) {
        return Math.sin(a);
    }

    public static float cos(float a) {
        return (float) Math.cos(a);
    }

    public static double cos(double a) {
        return Math.cos(a);
    }

    public static float tanh(float a) {
        return (float) Math.tanh(a);
    }

    public static double tanh(double a) {
        return Math.tanh(a);
    }

    public static float floor(float a) {
        return (float) Math.floor(a);
    }

    public static double floor(double a) {
        return Math.floor(a);
    }

    public static float ceil(float a) {
        return (float) Math.ceil(a);
    }

    public static double ceil(double a) {
        return Math.ceil(a);
    }

    /** {@code a} to the power of {@code b}. */
    public static float pow(float a, float b) {
        return (float) Math.pow(a, b);
    }

    public static double pow(double a, double b) {
        return Math.pow(a, b);
    }
}
