package io.github.tornadotransformers.training.losses;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * A picture of few colours: lines, small letters, and a PNG of it. It needs no window system and no fonts.
 *
 * <p>Source of the format: W3C, Portable Network Graphics, second edition.
 */
final class Canvas {
    private static final byte[] SIGNATURE = {(byte) 0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    private static final int BITS = 8;
    private static final int PALETTE_COLOURS = 3;

    private final int width;
    private final int height;
    private final byte[] pixels;

    /** The colours, in the order of the palette. */
    enum Ink {
        PAPER(0xFFFFFF),
        AXIS(0x444444),
        TRAINING(0x9DB8D9),
        VALIDATION(0xC0392B);

        private final int rgb;

        Ink(int rgb) {
            this.rgb = rgb;
        }
    }

    Canvas(int width, int height) {
        this.width = width;
        this.height = height;
        pixels = new byte[width * height];
    }

    /** Both ends are drawn; what lies outside is not. */
    void line(int x0, int y0, int x1, int y1, Ink ink) {
        int steps = Math.max(1, Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0)));
        for (int i = 0; i <= steps; i++) {
            dot(Math.round(x0 + (x1 - x0) * (float) i / steps), Math.round(y0 + (y1 - y0) * (float) i / steps), ink);
        }
    }

    private void dot(int x, int y, Ink ink) {
        if (x >= 0 && x < width && y >= 0 && y < height) {
            pixels[y * width + x] = (byte) ink.ordinal();
        }
    }

    /** Pixels that a text is wide. */
    static int width(String text) {
        return text.length() * Letters.ADVANCE;
    }

    /** Writes small letters from the point (x, y), their upper left end, on. */
    void text(int x, int y, String text) {
        for (int i = 0; i < text.length(); i++) {
            for (int row = 0; row < Letters.HEIGHT; row++) {
                for (int column = 0; column < Letters.WIDTH; column++) {
                    if (Letters.isInked(text.charAt(i), row, column)) {
                        dot(x + i * Letters.ADVANCE + column, y + row, Ink.AXIS);
                    }
                }
            }
        }
    }

    byte[] toPng() {
        ByteArrayOutputStream png = new ByteArrayOutputStream();
        png.writeBytes(SIGNATURE);
        ByteBuffer header = ByteBuffer.allocate(13);
        header.putInt(width).putInt(height).put((byte) BITS).put((byte) PALETTE_COLOURS);
        writeChunk(png, "IHDR", header.array());
        ByteBuffer palette = ByteBuffer.allocate(3 * Ink.values().length);
        for (Ink ink : Ink.values()) {
            palette.put((byte) (ink.rgb >> 16)).put((byte) (ink.rgb >> 8)).put((byte) ink.rgb);
        }
        writeChunk(png, "PLTE", palette.array());
        writeChunk(png, "IDAT", deflated());
        writeChunk(png, "IEND", new byte[0]);
        return png.toByteArray();
    }

    /** Every row after a byte that says it is not filtered. */
    private byte[] deflated() {
        byte[] rows = new byte[(width + 1) * height];
        for (int y = 0; y < height; y++) {
            System.arraycopy(pixels, y * width, rows, y * (width + 1) + 1, width);
        }
        try (Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION)) {
            deflater.setInput(rows);
            deflater.finish();
            ByteArrayOutputStream compressed = new ByteArrayOutputStream();
            byte[] chunk = new byte[1 << 13];
            while (!deflater.finished()) {
                compressed.write(chunk, 0, deflater.deflate(chunk));
            }
            return compressed.toByteArray();
        }
    }

    private static void writeChunk(ByteArrayOutputStream png, String type, byte[] data) {
        byte[] name = type.getBytes(StandardCharsets.US_ASCII);
        CRC32 crc = new CRC32();
        crc.update(name);
        crc.update(data);
        png.writeBytes(ByteBuffer.allocate(4).putInt(data.length).array());
        png.writeBytes(name);
        png.writeBytes(data);
        png.writeBytes(ByteBuffer.allocate(4).putInt((int) crc.getValue()).array());
    }
}
