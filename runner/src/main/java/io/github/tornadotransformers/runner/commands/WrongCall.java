package io.github.tornadotransformers.runner.commands;

import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** What is said of a call that the option parser refuses: what is wrong, and what may have been meant. */
final class WrongCall {
    private static final String END_OF_OPTIONS = "--";
    private static final String LONG = "--";
    private static final String SHORT = "-";
    private static final int MOST_OPTIONS = 3;
    /** How the parser ends its message about a value that it cannot convert, by Java's names. */
    private static final Pattern UNCONVERTED =
            Pattern.compile("(?<=: )('.*') is not an? (int|long|float|double)", Pattern.DOTALL);

    private final CommandLine command;
    private final ParameterException refusal;
    private final List<String> arguments;

    WrongCall(ParameterException refusal, String[] arguments) {
        this.refusal = refusal;
        this.arguments = List.of(arguments);
        command = refusal.getCommandLine();
    }

    String message() {
        if (refusal instanceof UnmatchedArgumentException unmatched) {
            return unmatched(unmatched.getUnmatched());
        }
        return brokenCluster()
                .map(this::unknownOption)
                .orElseGet(() -> UNCONVERTED.matcher(refusal.getMessage()).replaceFirst(WrongCall::whatWasExpected));
    }

    private static String whatWasExpected(MatchResult unconverted) {
        String expected = switch (unconverted.group(2)) {
            case "int" -> "a whole number up to " + Integer.MAX_VALUE;
            case "long" -> "a whole number up to " + Long.MAX_VALUE;
            default -> "a number";
        };
        return Matcher.quoteReplacement("found " + unconverted.group(1) + ", expected " + expected);
    }

    /** @param left what the parser could not place; what follows an unknown option is its value, or nothing wrong */
    private String unmatched(List<String> left) {
        Optional<String> option =
                left.stream().filter(WrongCall::looksLikeAnOption).findFirst();
        if (option.isPresent()) {
            return unknownOption(option.get());
        }
        String first = left.getFirst();
        return command.getParent() == null
                ? "there is no command '" + first + "'" + didYouMean(first, 1)
                : "unexpected '" + first + "': a text with spaces needs quotes";
    }

    private static boolean looksLikeAnOption(String argument) {
        return argument.startsWith(SHORT) && argument.length() > 1;
    }

    private String unknownOption(String option) {
        boolean mayBeText = !option.startsWith(LONG) || option.contains(" ");
        String meant = option.contains(" ") ? "" : didYouMean(option, MOST_OPTIONS);
        boolean takesText = !command.getCommandSpec().positionalParameters().isEmpty();
        return "Unknown option: '" + option + "'" + meant
                + (takesText && (mayBeText || meant.isEmpty()) ? "; a text that begins with - comes after --" : "");
    }

    /**
     * An argument such as {@code -hello}, which the parser reads as several options of one letter, {@code -h -e llo}. Only
     * where it fails does anyone hear of it.
     */
    private Optional<String> brokenCluster() {
        return arguments.stream()
                .takeWhile(argument -> !argument.equals(END_OF_OPTIONS))
                .filter(argument -> argument.length() > 2 && !argument.startsWith(LONG))
                .filter(argument -> argument.endsWith(String.valueOf(refusal.getValue())))
                .filter(this::isBroken)
                .findFirst();
    }

    private boolean isBroken(String cluster) {
        return cluster.startsWith(SHORT)
                && isFlag(cluster.charAt(1))
                && !cluster.chars().skip(1).limit(cluster.length() - 2).allMatch(this::isFlag);
    }

    private boolean isFlag(int letter) {
        OptionSpec option = command.getCommandSpec().findOption((char) letter);
        return option != null && option.arity().max() == 0;
    }

    /** @param most how many of the parser's suggestions, whose best comes first where it ranks them */
    private String didYouMean(String mistyped, int most) {
        List<String> near = new UnmatchedArgumentException(command, List.of(mistyped)).getSuggestions();
        return near.isEmpty()
                ? ""
                : "; did you mean " + near.stream().limit(most).collect(Collectors.joining(" or ")) + "?";
    }
}
