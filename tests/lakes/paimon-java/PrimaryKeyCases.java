import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.TableWriteImpl;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.RowKind;

/** Primary-key tables: buckets of every kind, compaction, deletes, changelogs. */
final class PrimaryKeyCases {
    private PrimaryKeyCases() {}

    static void register() {
        MakeLakes.add("pk-fixed-bucket", PrimaryKeyCases::fixed);
        MakeLakes.add("pk-dynamic-bucket", PrimaryKeyCases::dynamic);
        MakeLakes.add("pk-postpone-bucket", PrimaryKeyCases::postpone);
        MakeLakes.add("pk-rescale-bucket", PrimaryKeyCases::rescale);
        MakeLakes.add("pk-level-upgrade", PrimaryKeyCases::levels);
        MakeLakes.add("pk-deletion-vectors", path -> vectors(path));
        MakeLakes.add("pk-deletion-vectors-bitmap64", path -> vectors(path, "deletion-vectors.bitmap64", "true"));
        MakeLakes.add(
                "pk-deletion-vectors-in-bucket-dir",
                path -> upserts(path, "deletion-vectors.enabled", "true", "index-file-in-data-file-dir", "true"));
        MakeLakes.add("changelog-input", path -> changelog(path, "input"));
        MakeLakes.add("changelog-lookup", path -> changelog(path, "lookup"));
        MakeLakes.add("changelog-full-compaction", path -> changelog(path, "full-compaction"));
        MakeLakes.add("changelog-long-lived", PrimaryKeyCases::longLived);
        MakeLakes.add("pk-aggregation", PrimaryKeyCases::aggregation);
        MakeLakes.add("pk-thin-mode", path -> upserts(path, "data-file.thin-mode", "true"));
        MakeLakes.add("pk-cross-partition", PrimaryKeyCases::crossPartition);
        MakeLakes.add("pk-btree-index", path -> indexed(path));
    }

    static Schema.Builder keyed() {
        return Schema.newBuilder()
                .column("p", DataTypes.STRING())
                .column("id", DataTypes.BIGINT())
                .column("name", DataTypes.STRING())
                .column("amount", DataTypes.DECIMAL(10, 2))
                .partitionKeys("p")
                .primaryKey("p", "id");
    }

    static InternalRow item(RowKind kind, String partition, long id, String name) {
        return Types.kind(kind, Types.s(partition), id, Types.s(name), Types.dec(id + ".25", 10, 2));
    }

    static InternalRow item(String partition, long id, String name) {
        return item(RowKind.INSERT, partition, id, name);
    }

    private static Lake fixed(Path path) throws Exception {
        Lake lake = new Lake(path, keyed().option("bucket", "3").build());
        lake.commit(item("a", 1, "one"), item("a", 2, "two"), item("b", 3, "three"), item(" ", 9, "in a blank partition"));
        lake.commit(item("a", 1, "uno"), item(RowKind.DELETE, "a", 2, null), item(RowKind.UPDATE_BEFORE, "b", 3, "three"), item(RowKind.UPDATE_AFTER, "b", 3, "tres"));
        lake.batch(item("b", 1L << 60, null));
        lake.compact();
        lake.commitNothing();
        lake.commit(item("c", -5, "minus"));
        return lake;
    }

    private static Lake upserts(Path path, String... options) throws Exception {
        Lake lake = new Lake(path, keyed().option("bucket", "1").options(Lake.options(options)).build());
        lake.commit(item("a", 1, "one"), item("a", 2, null));
        lake.commit(item("a", 1, "uno"), item("b", 3, "three"));
        lake.compact();
        return lake;
    }

    private static Lake dynamic(Path path) throws Exception {
        Lake lake = new Lake(path, keyed().option("bucket", "-1").option("dynamic-bucket.target-row-num", "2").build());
        lake.commit(row -> (int) (row.getLong(1) / 2), item("a", 0, "zero"), item("a", 1, "one"), item("a", 2, "two"), item("b", 1, "one"));
        lake.commit(row -> (int) (row.getLong(1) / 2), item("a", 3, "three"), item("b", 1, "uno"));
        lake.commit(row -> (int) (row.getLong(1) / 2), item("c", 4, "four"));
        return lake;
    }

    private static Lake postpone(Path path) throws Exception {
        Lake lake = new Lake(path, keyed().option("bucket", "-2").build());
        lake.commit(item("a", 1, "one"), item("b", 2, "two"));
        lake.commit(item("a", 1, "uno"), item(RowKind.DELETE, "b", 2, null));
        InternalRow[] merged = {item("a", 1, "uno"), item(RowKind.DELETE, "b", 2, null)};
        Lake real = lake.with("bucket", "2", "write-only", "true");
        try (TableWriteImpl<?> write = real.writer()) {
            for (InternalRow row : merged) {
                write.write(row);
            }
            List<CommitMessage> messages = write.prepareCommit(true, 3);
            lake.finish(Vectors.replacingPostponed(lake, messages));
        }
        lake.commit(item("c", 7, "seven"));
        return lake;
    }

    private static Lake rescale(Path path) throws Exception {
        Lake lake = new Lake(path, keyed().option("bucket", "1").build());
        lake.commit(item("a", 1, "one"), item("a", 2, "two"), item("b", 3, "three"));
        lake.commit(item("a", 4, "four"));
        lake.alter(SchemaChange.setOption("bucket", "3"));
        lake.overwrite(Collections.singletonMap("p", "a"), item("a", 1, "one"), item("a", 2, "two"), item("a", 4, "four"));
        lake.commit(item("a", 5, "five"), item("c", 6, "six"));
        return lake;
    }

    /** A single sorted run is raised to the top level under its own name: DELETE and ADD of one file name. */
    private static Lake levels(Path path) throws Exception {
        Schema schema = keyed().option("bucket", "1").option("num-sorted-run.compaction-trigger", "2").option("num-levels", "4").build();
        Lake lake = new Lake(path, schema);
        lake.commit(item("a", 1, "one"));
        lake.compact();
        for (int i = 2; i < 4; i++) {
            lake.commit(item("a", i, "item " + i));
        }
        lake.commit(item(RowKind.DELETE, "a", 3, null));
        lake.compact();
        return lake;
    }

    private static Lake vectors(Path path, String... options) throws Exception {
        Schema schema = keyed().option("bucket", "1").option("deletion-vectors.enabled", "true").options(Lake.options(options)).build();
        Lake lake = new Lake(path, schema);
        lake.commit(item("a", 1, "one"), item("a", 2, "two"), item("a", 3, "three"), item("b", 4, "four"));
        lake.commit(item("a", 2, "dos"), item("b", 5, "five"));
        lake.commit(item(RowKind.DELETE, "a", 3, null), item("b", 4, "cuatro"));
        lake.with("write-only", "true").commit(item("a", 1, "uno, not yet compacted"));
        return lake;
    }

    private static Lake changelog(Path path, String producer) throws Exception {
        Schema schema = keyed().option("bucket", "1").option("changelog-producer", producer).build();
        Lake lake = new Lake(path, schema);
        lake.commit(item("a", 1, "one"), item("a", 2, "two"));
        lake.commit(item(RowKind.UPDATE_BEFORE, "a", 1, "one"), item(RowKind.UPDATE_AFTER, "a", 1, "uno"), item("b", 3, "three"));
        lake.commit(item(RowKind.DELETE, "a", 2, "two"));
        lake.compact();
        return lake;
    }

    private static Lake longLived(Path path) throws Exception {
        Schema schema = keyed().option("bucket", "1").option("changelog-producer", "input").option("file.format", "avro").build();
        Lake lake = new Lake(path, schema);
        for (int i = 1; i < 6; i++) {
            lake.commit(item("a", i, "item " + i));
        }
        ExpireConfig config =
                ExpireConfig.builder()
                        .snapshotRetainMax(2)
                        .snapshotRetainMin(1)
                        .snapshotTimeRetain(Duration.ZERO)
                        .changelogRetainMax(3)
                        .changelogRetainMin(1)
                        .changelogTimeRetain(Duration.ofDays(1))
                        .build();
        lake.table.newExpireSnapshots().config(config).expire();
        lake.table.newExpireChangelog().config(config).expire();
        return lake;
    }

    private static Lake aggregation(Path path) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("id", DataTypes.INT()).column("total", DataTypes.BIGINT()).column("last", DataTypes.STRING());
        schema.primaryKey("id").option("bucket", "1").option("merge-engine", "aggregation");
        schema.option("fields.total.aggregate-function", "sum").option("fields.last.aggregate-function", "last_non_null_value");
        Lake lake = new Lake(path, schema.build());
        lake.commit(Types.row(1, 10L, Types.s("a")));
        lake.commit(Types.row(1, 5L, null), Types.row(2, 1L, Types.s("b")));
        lake.compact();
        return lake;
    }

    /** The key does not hold the partition, so a row may move from one to another and a partition may be null. */
    private static Lake crossPartition(Path path) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("p", DataTypes.STRING()).column("id", DataTypes.STRING()).column("n", DataTypes.INT());
        Lake lake = new Lake(path, schema.partitionKeys("p").primaryKey("id").option("bucket", "-1").build());
        lake.commit(row -> 0, Types.row(Types.s("a"), Types.s("key 1"), 1), Types.row(null, Types.s("key 2"), 2));
        lake.commit(row -> 0, Types.kind(RowKind.DELETE, Types.s("a"), Types.s("key 1"), 1), Types.row(Types.s("b"), Types.s("key 1"), 10));
        return lake;
    }

    private static Lake indexed(Path path) throws Exception {
        Schema schema = keyed().option("bucket", "1").option("deletion-vectors.enabled", "true").option("pk-btree.index.columns", "name").build();
        Lake lake = new Lake(path, schema);
        lake.commit(item("a", 1, "one"), item("a", 2, "two"));
        lake.commit(item("a", 3, "three"));
        lake.compact();
        return lake;
    }
}
