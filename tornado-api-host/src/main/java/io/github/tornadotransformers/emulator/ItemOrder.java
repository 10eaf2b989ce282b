package io.github.tornadotransformers.emulator;

/** In which order the items of a parallel loop run: on a device they run in any. */
enum ItemOrder {
    BACKWARD {
        @Override
        int item(int position, int items) {
            return items - 1 - position;
        }
    },
    /** Steps of about 0.618 of the loop, around it, so that neighbours run far apart. */
    SHUFFLED {
        @Override
        int item(int position, int items) {
            long step = Math.max(1, (long) (items * 0.618));
            while (greatestCommonDivisor(step, items) != 1) {
                step++;
            }
            return (int) ((position * step + items / 2) % items);
        }
    },
    FORWARD {
        @Override
        int item(int position, int items) {
            return position;
        }
    };

    /** The item that comes at {@code position}, which is below {@code items}. */
    abstract int item(int position, int items);

    /** Each in turn. */
    static ItemOrder of(int execution) {
        return values()[execution % values().length];
    }

    private static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }
}
