import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.Blob;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.Path;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.types.DataTypes;

/** Append tables: deletion vectors, row tracking, data evolution, blobs, file indexes. */
final class AppendCases {
    private AppendCases() {}

    static void register() {
        MakeLakes.add("append-buckets", AppendCases::buckets);
        MakeLakes.add("append-deletion-vectors", path -> vectors(path));
        MakeLakes.add("append-deletion-vectors-bitmap64", path -> vectors(path, "deletion-vectors.bitmap64", "true"));
        MakeLakes.add("append-compaction", AppendCases::compaction);
        MakeLakes.add("row-tracking", AppendCases::rowTracking);
        MakeLakes.add("data-evolution", AppendCases::dataEvolution);
        MakeLakes.add("blob", AppendCases::blob);
        MakeLakes.add("global-index", AppendCases::globalIndex);
        MakeLakes.add("file-index-embedded", path -> fileIndex(path, "1 mb"));
        MakeLakes.add("file-index-in-file", path -> fileIndex(path, "1 b"));
        MakeLakes.add("vector", AppendCases::vector);
    }

    static Schema.Builder plain() {
        return Schema.newBuilder().column("id", DataTypes.INT()).column("name", DataTypes.STRING());
    }

    static InternalRow item(Integer id, String name) {
        return Types.row(id, Types.s(name));
    }

    private static Lake buckets(Path path) throws Exception {
        Lake lake = new Lake(path, plain().option("bucket", "2").option("bucket-key", "id").build());
        lake.commit(item(1, "one"), item(2, "two"), item(3, null));
        lake.commit(item(4, "four"));
        lake.compact();
        return lake;
    }

    private static Lake vectors(Path path, String... options) throws Exception {
        Schema schema = plain().option("deletion-vectors.enabled", "true").options(Lake.options(options)).build();
        Lake lake = new Lake(path, schema);
        lake.commit(item(1, "one"), item(2, "two"), item(3, "three"));
        lake.commit(item(4, "four"), item(5, "five"));
        lake.finish(Vectors.deleting(lake, files(0, 0, 2)));
        lake.finish(Vectors.deleting(lake, files(1, 1)));
        lake.finish(Vectors.deleting(lake, files(0, 1)));
        return lake;
    }

    private static Map<Integer, long[]> files(int file, long... positions) {
        return new HashMap<>(Collections.singletonMap(file, positions));
    }

    private static Lake compaction(Path path) throws Exception {
        Lake lake = new Lake(path, plain().option("compaction.min.file-num", "2").option("file.format", "avro").build());
        for (int i = 0; i < 3; i++) {
            lake.commit(item(i, "item " + i));
        }
        FileStoreTable table = lake.table;
        for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
            CommitMessage message = task.doCompact(table, (org.apache.paimon.operation.BaseAppendFileStoreWrite) table.store().newWrite("compactor"));
            lake.finish(Collections.singletonList(message));
        }
        return lake;
    }

    private static Lake rowTracking(Path path) throws Exception {
        Lake lake = new Lake(path, plain().option("row-tracking.enabled", "true").build());
        lake.commit(item(1, "one"), item(2, "two"));
        lake.commit(item(3, null));
        lake.batch(item(4, "four"), item(5, "five"), item(6, "six"));
        return lake;
    }

    private static Schema.Builder evolving() {
        return plain().column("extra", DataTypes.DOUBLE()).option("row-tracking.enabled", "true").option("data-evolution.enabled", "true");
    }

    private static Lake dataEvolution(Path path) throws Exception {
        Lake lake = new Lake(path, evolving().build());
        lake.batch(Types.row(1, Types.s("one"), 1.5), Types.row(2, Types.s("two"), null));
        lake.columns(Arrays.asList("id", "name"), null, item(3, "three"), item(4, null));
        lake.columns(Collections.singletonList("extra"), 2L, Types.row(3.5), Types.row(4.5));
        lake.columns(Collections.singletonList("name"), 0L, Types.row(Types.s("uno")), Types.row(Types.s("dos")));
        return lake;
    }

    private static Lake blob(Path path) throws Exception {
        Schema.Builder schema = plain().column("picture", DataTypes.BLOB()).option("row-tracking.enabled", "true");
        Lake lake = new Lake(path, schema.option("data-evolution.enabled", "true").option("bucket", "-1").build());
        lake.batch(
                Types.row(1, Types.s("one"), Blob.fromData(Types.bytes(1, 2, 3))),
                Types.row(2, Types.s("two"), Blob.fromData("a longer blob of bytes".getBytes("UTF-8"))));
        lake.batch(Types.row(3, null, null));
        return lake;
    }

    private static Lake vector(Path path) throws Exception {
        Schema.Builder schema = plain().column("embedding", DataTypes.VECTOR(3, DataTypes.FLOAT()));
        Lake lake = new Lake(path, schema.build());
        lake.batch(Types.row(1, Types.s("one"), org.apache.paimon.data.BinaryVector.fromPrimitiveArray(new float[] {1f, 2f, -0.5f})));
        lake.batch(Types.row(2, Types.s("two"), null));
        return lake;
    }

    /** A B-tree over the column "name"; the builder has another name in each release. */
    private static Lake globalIndex(Path path) throws Exception {
        Lake lake = new Lake(path, evolving().build());
        lake.batch(Types.row(1, Types.s("one"), 1.5), Types.row(2, Types.s("two"), null), Types.row(3, Types.s("three"), 0.0));
        Object builder;
        try {
            Class<?> type = Class.forName("org.apache.paimon.globalindex.sorted.SortedGlobalIndexBuilder");
            builder = type.getConstructor(Table.class, String.class).newInstance(lake.table, "btree");
        } catch (ClassNotFoundException e) {
            Class<?> type = Class.forName("org.apache.paimon.globalindex.btree.BTreeGlobalIndexBuilder");
            builder = type.getConstructor(Table.class).newInstance(lake.table);
        }
        builder.getClass().getMethod("withIndexField", String.class).invoke(builder, "name");
        Object scanned = ((java.util.Optional<?>) builder.getClass().getMethod("scan").invoke(builder)).get();
        for (Object split : (List<?>) ((org.apache.paimon.utils.Pair<?, ?>) scanned).getRight()) {
            @SuppressWarnings("unchecked")
            List<CommitMessage> messages =
                    (List<CommitMessage>)
                            builder.getClass()
                                    .getMethod("build", DataSplit.class, IOManager.class)
                                    .invoke(builder, split, IOManager.create(System.getProperty("java.io.tmpdir")));
            lake.finish(messages);
        }
        return lake;
    }

    private static Lake fileIndex(Path path, String threshold) throws Exception {
        Schema.Builder schema = plain().column("n", DataTypes.INT()).column("m", DataTypes.BIGINT()).column("t", DataTypes.STRING());
        schema.option("file-index.in-manifest-threshold", threshold);
        schema.option("file-index.bloom-filter.columns", "name,id").option("file-index.bloom-filter.name.items", "20");
        schema.option("file-index.bloom-filter.id.items", "20");
        schema.option("file-index.bitmap.columns", "t").option("file-index.bsi.columns", "n").option("file-index.range-bitmap.columns", "m");
        Lake lake = new Lake(path, schema.build());
        lake.commit(
                Types.row(1, Types.s("one"), 10, 100L, Types.s("x")),
                Types.row(2, Types.s("two"), -20, 200L, Types.s("y")),
                Types.row(3, null, null, null, null));
        lake.commit(Types.row(4, Types.s("four"), 0, 400L, Types.s("x")));
        return lake;
    }
}
