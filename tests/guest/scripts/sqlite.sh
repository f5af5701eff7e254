# SPDX-License-Identifier: MIT
# WAL and rollback journals, big transactions, vacuum, backup, attached files, two writers at once. N: rows.
set -e
for journal in wal delete truncate persist memory; do
    sqlite3 "$journal.db" <<SQL
pragma journal_mode = $journal;
pragma mmap_size = 1048576;
create table t(a integer primary key, b text, c blob);
create index i on t(b);
begin;
with recursive n(x) as (values(1) union all select x + 1 from n where x < $N)
    insert into t select x, 'row ' || (x * 7919 % 10007), zeroblob(x % 300) from n;
commit;
begin;
delete from t where a % 3 = 0;
rollback;
delete from t where a % 5 = 0;
savepoint one;
update t set b = b || '!' where a % 2 = 0;
rollback to one;
release one;
vacuum;
pragma integrity_check;
select count(*), sum(a), sum(length(c)), max(b) from t;
pragma wal_checkpoint(truncate);
.backup $journal.backup
attach '$journal.backup' as other;
select count(*) from other.t;
SQL
    sqlite3 "$journal.backup" .dump | sha256sum
    sqlite3 "$journal.db" "vacuum into '$journal.into'"
    sqlite3 "$journal.into" .dump | sha256sum
done
sqlite3 both.db 'pragma journal_mode = wal; create table t(a);'
for writer in 1 2 3; do
    (for i in $(seq 20); do
        echo "begin immediate; insert into t values($writer * 1000 + $i); commit;"
    done) | sqlite3 -cmd '.timeout 900000' both.db &
done
wait
sqlite3 both.db 'select count(*), sum(a) from t; pragma integrity_check;'
# The journal that persists has a random number in it.
rm -f both.db* persist.db-journal
