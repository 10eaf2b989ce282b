package io.github.tornadotransformers.runner.hub;

import java.util.Collection;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;

/** Finds what somebody may have meant by a name that leads nowhere. */
final class NearestName {
    /** Of so many letters, one may be wrong. */
    private static final int LETTERS_PER_MISTAKE = 4;

    private NearestName() {}

    /** The name that differs least, in any case, as a whole or without owners; empty if none is near. */
    static Optional<String> of(String wanted, Collection<String> names) {
        return names.stream()
                .filter(name -> distance(wanted, name) <= Math.max(1, wanted.length() / LETTERS_PER_MISTAKE))
                .min(Comparator.comparingInt((String name) -> distance(wanted, name))
                        .thenComparingInt(String::length));
    }

    private static int distance(String one, String other) {
        String first = one.toLowerCase(Locale.ROOT);
        String second = other.toLowerCase(Locale.ROOT);
        String firstName = withoutOwner(first);
        boolean sameName = firstName.equals(withoutOwner(second));
        return sameName ? 0 : edits(first, second);
    }

    private static String withoutOwner(String name) {
        return name.substring(name.indexOf('/') + 1);
    }

    /** Letters to insert, delete or replace (Levenshtein 1966). */
    private static int edits(String from, String to) {
        int[] row = new int[to.length() + 1];
        for (int j = 0; j <= to.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= from.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[to.length()];
    }
}
