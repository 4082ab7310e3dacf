import static org.apache.paimon.schema.SchemaChange.addColumn;

import java.time.Duration;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.apache.paimon.consumer.Consumer;
import org.apache.paimon.fs.Path;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.stats.ColStats;
import org.apache.paimon.stats.Statistics;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.types.DataTypes;

/** What happens to a table over time: schema evolution, tags, branches, rollback, expiry, overwrite, statistics. */
final class HistoryCases {
    private HistoryCases() {}

    static void register() {
        MakeLakes.add("schema-evolution", path -> evolve(path, "true"));
        MakeLakes.add("schema-evolution-not-dense", path -> evolve(path, "false"));
        MakeLakes.add("pk-schema-evolution", HistoryCases::evolveKeyed);
        MakeLakes.add("tags", HistoryCases::tags);
        MakeLakes.add("branches", HistoryCases::branches);
        MakeLakes.add("fast-forward", HistoryCases::fastForward);
        MakeLakes.add("rollback", HistoryCases::rollback);
        MakeLakes.add("expiry", HistoryCases::expiry);
        MakeLakes.add("tag-without-snapshots", HistoryCases::tagAlone);
        MakeLakes.add("overwrite", HistoryCases::overwrite);
        MakeLakes.add("truncate", HistoryCases::truncate);
        MakeLakes.add("statistics", HistoryCases::statistics);
        MakeLakes.add("consumers", HistoryCases::consumers);
        MakeLakes.add("schema-only", path -> new Lake(path, PrimaryKeyCases.keyed().comment("never written").build()));
    }

    private static Lake evolve(Path path, String dense) throws Exception {
        Schema.Builder schema = Schema.newBuilder().column("id", DataTypes.INT()).column("a", DataTypes.INT(), "a comment");
        schema.column("b", DataTypes.STRING()).column("r", Types.rowType()).option("metadata.stats-dense-store", dense);
        Lake lake = new Lake(path, schema.build());
        lake.commit(Types.row(1, 10, Types.s("ten"), Types.row(1, Types.s("x"))), Types.row(2, null, null, null));
        lake.alter(addColumn("c", DataTypes.DATE(), "added"));
        lake.commit(Types.row(3, 30, Types.s("thirty"), null, Types.date("2024-02-29")));
        lake.alter(SchemaChange.renameColumn("b", "label"), SchemaChange.updateColumnType("a", DataTypes.BIGINT()));
        lake.commit(Types.row(4, 1L << 40, Types.s("renamed"), null, null));
        lake.alter(SchemaChange.dropColumn("label"), SchemaChange.updateColumnPosition(SchemaChange.Move.first("c")));
        lake.commit(Types.row(Types.date("1969-12-31"), 5, 50L, Types.row(5, null)));
        lake.alter(
                addColumn("b", DataTypes.DOUBLE()),
                addColumn(new String[] {"r", "z"}, DataTypes.TIMESTAMP(6), null, null),
                SchemaChange.renameColumn(new String[] {"r", "a"}, "renamed"));
        lake.commit(Types.row(null, 6, 60L, Types.row(6, Types.s("y"), Types.ts("2024-01-01T00:00:00.000001")), 2.5));
        lake.alter(SchemaChange.updateColumnType("a", DataTypes.STRING()), SchemaChange.updateColumnType("id", DataTypes.DECIMAL(20, 2)));
        lake.commit(Types.row(null, Types.dec("7.00", 20, 2), Types.s("70 as text"), null, null));
        lake.alter(SchemaChange.setOption("snapshot.num-retained.max", "20"), SchemaChange.updateComment("new comment"));
        return lake;
    }

    private static Lake evolveKeyed(Path path) throws Exception {
        Schema schema = PrimaryKeyCases.keyed().option("bucket", "1").option("num-sorted-run.compaction-trigger", "10").build();
        Lake lake = new Lake(path, schema);
        lake.commit(PrimaryKeyCases.item("a", 1, "one"), PrimaryKeyCases.item("b", 2, null));
        lake.alter(SchemaChange.renameColumn("id", "key"), SchemaChange.dropColumn("amount"));
        lake.commit(Types.row(Types.s("a"), 3L, Types.s("three")));
        lake.alter(addColumn("amount", DataTypes.INT()), SchemaChange.updateColumnPosition(SchemaChange.Move.after("key", "name")));
        lake.commit(Types.row(Types.s("a"), Types.s("four"), 4L, 44));
        lake.compact();
        return lake;
    }

    private static Lake small(Path path, String... options) throws Exception {
        Lake lake = new Lake(path, AppendCases.plain().option("file.format", "avro").options(Lake.options(options)).build());
        for (int i = 1; i <= 3; i++) {
            lake.commit(AppendCases.item(i, "item " + i));
        }
        return lake;
    }

    private static Lake tags(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.createTag("plain", 2);
        lake.table.createTag("kept two days", 2, Duration.ofDays(2));
        lake.table.createTag("2024-01-01", 3, Duration.ofMillis(90061001));
        lake.table.createTag("again", 2);
        expireTo(lake, 1);
        lake.table.deleteTag("again");
        return lake;
    }

    private static Lake branches(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.createTag("base", 2);
        lake.table.createBranch("from_tag", "base");
        lake.table.createBranch("empty");
        lake.table.createBranch("worked", "base");
        Lake worked = lake.branch("worked");
        worked.commit(AppendCases.item(100, "on the branch"));
        worked.alter(addColumn("more", DataTypes.INT()));
        worked.commit(Types.row(101, Types.s("with a new column"), 7));
        worked.table.createTag("of the branch");
        Lake empty = lake.branch("empty");
        empty.commit(AppendCases.item(200, "first of the empty branch"));
        lake.commit(AppendCases.item(5, "on main"));
        return lake;
    }

    /** Main takes over the schemas, snapshots and tags of a branch, and loses its own later commits. */
    private static Lake fastForward(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.createTag("base", 2);
        lake.table.createBranch("next", "base");
        lake.branch("next").commit(AppendCases.item(100, "on the branch"));
        lake.table.fastForward("next");
        lake.commit(AppendCases.item(4, "on main again"));
        return lake;
    }

    private static Lake rollback(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.createTag("before", 1);
        lake.table.rollbackTo(2);
        lake.commit(AppendCases.item(30, "after going back to 2"));
        lake.table.rollbackTo("before");
        lake.commit(AppendCases.item(20, "after going back to the tag"));
        return lake;
    }

    private static void expireTo(Lake lake, int kept) {
        ExpireConfig config =
                ExpireConfig.builder().snapshotRetainMax(kept).snapshotRetainMin(kept).snapshotTimeRetain(Duration.ZERO).build();
        lake.table.newExpireSnapshots().config(config).expire();
    }

    private static Lake expiry(Path path) throws Exception {
        Lake lake = new Lake(path, PrimaryKeyCases.keyed().option("bucket", "1").option("file.format", "avro").build());
        for (int i = 1; i <= 3; i++) {
            lake.commit(PrimaryKeyCases.item("a", 1, "version " + i));
        }
        lake.compact();
        lake.commit(PrimaryKeyCases.item("a", 2, "two"));
        lake.commitNothing();
        expireTo(lake, 2);
        return lake;
    }

    private static Lake tagAlone(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.createTag("only", 2);
        Lake.IO.delete(lake.table.snapshotManager().snapshotDirectory(), true);
        return lake;
    }

    private static Lake overwrite(Path path) throws Exception {
        Schema.Builder schema = AppendCases.plain().column("p", DataTypes.INT()).partitionKeys("p");
        Lake lake = new Lake(path, schema.build());
        lake.commit(Types.row(1, Types.s("one"), 1), Types.row(2, Types.s("two"), 2), Types.row(3, Types.s("three"), null));
        lake.overwrite(Collections.singletonMap("p", "1"), Types.row(10, Types.s("ten"), 1));
        lake.overwrite(new HashMap<>(), Types.row(20, Types.s("twenty"), 2));
        lake.commit(Types.row(4, Types.s("four"), 1));
        return lake;
    }

    private static Lake truncate(Path path) throws Exception {
        Lake lake = small(path);
        try (BatchTableCommit commit = lake.table.newBatchWriteBuilder().newCommit()) {
            commit.truncateTable();
        }
        lake.commit(AppendCases.item(5, "after"));
        return lake;
    }

    private static Lake statistics(Path path) throws Exception {
        Lake lake = small(path);
        Map<String, ColStats<?>> columns = new HashMap<>();
        columns.put("id", ColStats.newColStats(0, 4L, 1, 4, 0L, 4L, 4L));
        columns.put("name", ColStats.newColStats(1, 4L, Types.s("item 1"), Types.s("item 4"), 0L, 6L, 6L));
        try (BatchTableCommit commit = lake.table.newBatchWriteBuilder().newCommit()) {
            commit.updateStatistics(new Statistics(lake.latest(), 0, 4L, 96L, columns));
        }
        lake.commit(AppendCases.item(5, "inherits the statistics"));
        lake.alter(addColumn("more", DataTypes.INT()));
        lake.commit(Types.row(6, Types.s("no longer"), 1));
        try (BatchTableCommit commit = lake.table.newBatchWriteBuilder().newCommit()) {
            commit.updateStatistics(new Statistics(lake.latest(), 1, 6L, 100L));
        }
        return lake;
    }

    private static Lake consumers(Path path) throws Exception {
        Lake lake = small(path);
        lake.table.consumerManager().resetConsumer("reader-1", new Consumer(3));
        lake.table.consumerManager().resetConsumer("job 2", new Consumer(5));
        return lake;
    }
}
