package uk.ac.manchester.tornado.api.types;

/** An IEEE 754 binary16 number. Arithmetic widens to float, computes there and rounds the result to nearest even. */
public class HalfFloat {
    private final short bits;

    /** The binary16 number nearest to {@code value}, ties to even. */
    public HalfFloat(float value) {
        this(Float.floatToFloat16(value));
    }

    /** The number with these 16 bits. */
    public HalfFloat(short bits) {
        this.bits = bits;
    }

    public static HalfFloat add(HalfFloat a, HalfFloat b) {
        return new HalfFloat(a.getFloat32() + b.getFloat32());
    }

    public static HalfFloat sub(HalfFloat a, HalfFloat b) {
        return new HalfFloat(a.getFloat32() - b.getFloat32());
    }

    public static HalfFloat mult(HalfFloat a, HalfFloat b) {
        return new HalfFloat(a.getFloat32() * b.getFloat32());
    }

    public static HalfFloat div(HalfFloat a, HalfFloat b) {
        return new HalfFloat(a.getFloat32() / b.getFloat32());
    }

    /** The 16 bits. */
    public short getHalfFloatValue() {
        return bits;
    }

    /** The same number as a float; exact. */
    public float getFloat32() {
        return Float.float16ToFloat(bits);
    }

    @Override
    public String toString() {
        return "HalfFloat: " + getFloat32();
    }
}
