package io.github.tornadotransformers.training.losses;

import java.util.HashMap;
import java.util.Map;

/** The shapes of the digits and letters that the axes and the key of a plot need, five pixels by seven. */
final class Letters {
    static final int WIDTH = 5;
    static final int HEIGHT = 7;

    /** From one letter to the next. */
    static final int ADVANCE = WIDTH + 1;

    private static final Map<Character, String> SHAPES = shapes();

    private Letters() {}

    /** A character without a shape is blank. */
    static boolean isInked(char letter, int row, int column) {
        String shape = SHAPES.get(letter);
        return shape != null && shape.charAt(row * (WIDTH + 1) + column) == '#';
    }

    /** The rows of a shape, with a bar between. */
    private static Map<Character, String> shapes() {
        Map<Character, String> shapes = new HashMap<>();
        shapes.put('0', " ### |#   #|#  ##|# # #|##  #|#   #| ### ");
        shapes.put('1', "  #  | ##  |  #  |  #  |  #  |  #  | ### ");
        shapes.put('2', " ### |#   #|    #|  ## | #   |#    |#####");
        shapes.put('3', " ### |#   #|    #|  ## |    #|#   #| ### ");
        shapes.put('4', "   # |  ## | # # |#  # |#####|   # |   # ");
        shapes.put('5', "#####|#    |#### |    #|    #|#   #| ### ");
        shapes.put('6', " ### |#    |#    |#### |#   #|#   #| ### ");
        shapes.put('7', "#####|    #|   # |  #  | #   | #   | #   ");
        shapes.put('8', " ### |#   #|#   #| ### |#   #|#   #| ### ");
        shapes.put('9', " ### |#   #|#   #| ####|    #|    #| ### ");
        shapes.put('.', "     |     |     |     |     |     |  #  ");
        shapes.put('-', "     |     |     |#####|     |     |     ");
        shapes.put('a', "     |     | ### |    #| ####|#   #| ####");
        shapes.put('d', "    #|    #| ####|#   #|#   #|#   #| ####");
        shapes.put('e', "     |     | ### |#   #|#####|#    | ### ");
        shapes.put('g', "     | ####|#   #|#   #| ####|    #| ### ");
        shapes.put('i', "  #  |     | ##  |  #  |  #  |  #  | ### ");
        shapes.put('l', " ##  |  #  |  #  |  #  |  #  |  #  | ### ");
        shapes.put('n', "     |     |# ## |##  #|#   #|#   #|#   #");
        shapes.put('o', "     |     | ### |#   #|#   #|#   #| ### ");
        shapes.put('p', "     |#### |#   #|#   #|#### |#    |#    ");
        shapes.put('r', "     |     |# ## |##  #|#    |#    |#    ");
        shapes.put('s', "     |     | ####|#    | ### |    #|#### ");
        shapes.put('t', " #   | #   |#### | #   | #   | #  #|  ## ");
        shapes.put('v', "     |     |#   #|#   #|#   #| # # |  #  ");
        return Map.copyOf(shapes);
    }
}
