package io.github.tornadotransformers.taskgraphs.probe;

import uk.ac.manchester.tornado.api.types.arrays.ShortArray;

/** What {@link SimulatedDevice} computes with: Java's arithmetic, in which a device's faults are planted one by one. */
interface Arithmetic {
    default float add(float a, float b) {
        return a + b;
    }

    default float subtract(float a, float b) {
        return a - b;
    }

    default float multiply(float a, float b) {
        return a * b;
    }

    default float divide(float a, float b) {
        return a / b;
    }

    default float negate(float a) {
        return -a;
    }

    default float fma(float a, float b, float c) {
        return Math.fma(a, b, c);
    }

    default float root(float a) {
        return (float) Math.sqrt(a);
    }

    /** @param unordered what it is where one of them is NaN */
    default int compare(float a, float b, int unordered) {
        return Float.isNaN(a) || Float.isNaN(b) ? unordered : a < b ? -1 : a > b ? 1 : 0;
    }

    default int toInt(float a) {
        return (int) a;
    }

    default float fromInt(int a) {
        return a;
    }

    default int divide(int a, int b) {
        return a / b;
    }

    default int remainder(int a, int b) {
        return a % b;
    }

    default short get(ShortArray array, int index) {
        return array.get(index);
    }
}
