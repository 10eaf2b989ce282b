package io.github.tornadotransformers.models.batching;

import io.github.tornadotransformers.models.program.AttentionShape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Pages whose tokens are known from the first position on, for sequences that begin with the same ones: a tree of pages, in which
 * a path from the root is a text. Whole pages are shared; what such a text has in common with the beginning of a page is copied.
 * Pages that nobody else holds are given back when memory is needed, those first that were used least recently.
 */
final class PrefixCache {
    private static final int PAGE = AttentionShape.PAGE;
    private static final int[] NOTHING = {};

    private final PagePool pool;
    private final PageMemory memory;
    private final Node root = new Node(null, -1, NOTHING);
    private long clock;

    PrefixCache(PagePool pool, PageMemory memory) {
        this.pool = pool;
        this.memory = memory;
    }

    /** A page behind those of its parents. The last of a text may be known in part only. */
    private static final class Node {
        private final Node parent;
        private final int page;
        private final List<Node> children = new ArrayList<>();
        private int[] tokens;
        private long used;

        Node(Node parent, int page, int[] tokens) {
            this.parent = parent;
            this.page = page;
            this.tokens = tokens;
        }

        /** How many tokens from {@code from} on this page has as well. */
        int common(int[] text, int from, int end) {
            int mismatch = Arrays.mismatch(tokens, 0, tokens.length, text, from, end);
            return mismatch < 0 ? tokens.length : mismatch;
        }

        /** The child that has the most tokens in common with the text, if one has any. */
        Optional<Node> child(int[] text, int from, int end) {
            return children.stream()
                    .filter(each -> each.tokens[0] == text[from])
                    .max(Comparator.comparingInt(each -> each.common(text, from, end)));
        }
    }

    /**
     * Gives a cache that has no page yet those that are known to hold the beginning of a text.
     *
     * @return how many positions it holds then; fewer than there are tokens, so that the last one is run for its logits
     */
    int adopt(PagedCache cache, int[] text) {
        int end = text.length - 1;
        int length = 0;
        Node node = root;
        while (length < end) {
            Optional<Node> child = node.child(text, length, end);
            if (child.isEmpty()) {
                break;
            }
            node = child.get();
            node.used = ++clock;
            int common = node.common(text, length, end);
            if (common == PAGE) {
                cache.add(node.page);
            } else if (!copied(node, cache)) {
                break;
            }
            length += common;
            if (common < PAGE) {
                break;
            }
        }
        cache.setLength(length);
        return length;
    }

    /** Where no page is left for a copy, the page itself is taken, if nobody else has it. */
    private boolean copied(Node node, PagedCache cache) {
        // The page must not be the one that is given back for the copy.
        pool.hold(node.page);
        List<Integer> taken = pool.take(1);
        if (!taken.isEmpty()) {
            memory.copy(node.page, taken.getFirst());
            cache.addTaken(taken.getFirst());
        } else if (node.children.isEmpty() && pool.holders(node.page) == 2) {
            node.parent.children.remove(node);
            cache.addTaken(node.page);
        } else {
            pool.release(List.of(node.page));
            return false;
        }
        pool.release(List.of(node.page));
        return true;
    }

    /**
     * Remembers what a cache holds.
     *
     * @param text the tokens of its first positions, which it will never overwrite by others
     */
    void keep(PagedCache cache, int[] text) {
        Node node = root;
        for (int from = 0; from < text.length; from += PAGE) {
            int end = Math.min(text.length, from + PAGE);
            node = keep(node, cache.page(from / PAGE), text, from, end);
            node.used = ++clock;
        }
    }

    private Node keep(Node parent, int page, int[] text, int from, int end) {
        Optional<Node> known = parent.child(text, from, end);
        if (known.isPresent()) {
            Node node = known.get();
            int common = node.common(text, from, end);
            if (common == end - from) {
                return node;
            }
            if (node.page == page) {
                node.tokens = Arrays.copyOfRange(text, from, end);
                return node;
            }
            if (common == node.tokens.length) {
                drop(node); // known in part, and now further
            }
        }
        Node node = new Node(parent, page, Arrays.copyOfRange(text, from, end));
        pool.hold(page);
        parent.children.add(node);
        return node;
    }

    private void drop(Node node) {
        node.parent.children.remove(node);
        pool.release(List.of(node.page));
    }

    /** Gives pages back that nobody else holds, as many as are wanted or as there are. */
    void reclaim(int wanted) {
        for (int count = 0; count < wanted; count++) {
            Optional<Node> last = leastRecent(root);
            if (last.isEmpty()) {
                return;
            }
            drop(last.get());
        }
    }

    /** Of the pages behind which no other is: what is behind a page is of no use without it. */
    private Optional<Node> leastRecent(Node node) {
        if (node.children.isEmpty()) {
            return node != root && pool.holders(node.page) == 1 ? Optional.of(node) : Optional.empty();
        }
        return node.children.stream()
                .flatMap(each -> leastRecent(each).stream())
                .min(Comparator.comparingLong(each -> each.used));
    }

    /** All pages, each behind the one that it follows, for {@link #restore}. */
    List<PrefixFile.Entry> entries() {
        List<PrefixFile.Entry> entries = new ArrayList<>();
        collect(root, -1, entries);
        return entries;
    }

    private static void collect(Node node, int index, List<PrefixFile.Entry> entries) {
        for (Node child : node.children) {
            entries.add(new PrefixFile.Entry(index, child.page, child.tokens));
            collect(child, entries.size() - 1, entries);
        }
    }

    /** Takes pages as far as there are free ones, and gives those that it took numbers from 0 on. */
    PrefixFile.Sink restore() {
        List<Node> restored = new ArrayList<>();
        return (parent, tokens, bytes) -> {
            List<Integer> taken = pool.free() == 0 ? List.of() : pool.take(1);
            if (taken.isEmpty()) {
                return -1;
            }
            memory.load(taken.getFirst(), bytes);
            Node node = new Node(parent < 0 ? root : restored.get(parent), taken.getFirst(), tokens);
            node.used = ++clock;
            node.parent.children.add(node);
            restored.add(node);
            return restored.size() - 1;
        };
    }

    /** How many pages it holds. */
    int pages() {
        return pages(root);
    }

    private static int pages(Node node) {
        return node.children.stream().mapToInt(each -> 1 + pages(each)).sum();
    }

    /** Forgets everything. */
    void clear() {
        forget(root);
    }

    private void forget(Node node) {
        node.children.forEach(each -> {
            forget(each);
            pool.release(List.of(each.page));
        });
        node.children.clear();
    }
}
