package io.github.tornadotransformers.host;

import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.batching.PageMemory;
import io.github.tornadotransformers.models.batching.PagedCache;
import io.github.tornadotransformers.models.program.Program;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The pages of all caches of an engine by their numbers, made when they are first asked for and used again and again. */
final class KvMemory implements PageMemory {
    private final Program program;
    private final KvType type;
    private final List<KvPage> pages = new ArrayList<>();

    KvMemory(Program program, KvType type) {
        this.program = program;
        this.type = type;
    }

    KvPage page(int number) {
        while (pages.size() <= number) {
            pages.add(new KvPage(type, program.attention(), program.layers()));
        }
        return pages.get(number);
    }

    /** So that nobody ever reads what another sequence has left: its logits would not be finite. */
    @Override
    public void freed(int page) {
        page(page).poison();
    }

    @Override
    public void copy(int from, int to) {
        page(to).copy(page(from));
    }

    @Override
    public long pageBytes() {
        return HostInterpreter.cacheBytes(program, type, 1);
    }

    @Override
    public void save(int page, MemorySegment to) {
        page(page).move(to, true);
    }

    @Override
    public void load(int page, MemorySegment from) {
        page(page).move(from, false);
    }

    /** What a sequence has in a layer. */
    KvLayer layer(PagedCache cache, int layer) {
        List<KvPage> own = IntStream.range(0, cache.pages())
                .map(cache::page)
                .mapToObj(this::page)
                .toList();
        return KvLayer.of(type, program.attention(), own, layer);
    }
}
