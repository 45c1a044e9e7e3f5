// SPDX-License-Identifier: GPL-2.0
/*
 * sqlite-insert THREADS ROWS: each thread inserts rows into a table of its own, in a
 * database of its own in memory, one statement for each row. The threads share the
 * library with its mutexes and its allocator. Prints the sum of each table.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#define THREADS_MAX	64

struct worker {
	pthread_t thread;
	int rows;
	long long sum;
};

static void check(sqlite3 *db, int result, int expected)
{
	if (result == expected)
		return;
	fprintf(stderr, "sqlite-insert: %s\n", sqlite3_errmsg(db));
	exit(1);
}

static void run(sqlite3 *db, const char *sql)
{
	check(db, sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static void insert_rows(sqlite3 *db, int rows)
{
	char sql[96];

	run(db, "begin");
	for (int i = 0; i < rows; i++) {
		snprintf(sql, sizeof(sql),
			 "insert into t values (%d, %d, 'row %d')", i,
			 i * 7919 % 10007, i);
		run(db, sql);
	}
	run(db, "commit");
}

static void *work(void *arg)
{
	struct worker *w = arg;
	sqlite3_stmt *query;
	sqlite3 *db;

	check(NULL, sqlite3_open(":memory:", &db), SQLITE_OK);
	run(db, "create table t (id integer primary key, number int, text)");
	insert_rows(db, w->rows);
	check(db, sqlite3_prepare_v2(db, "select sum(number + length(text)) from t", -1,
				     &query, NULL), SQLITE_OK);
	check(db, sqlite3_step(query), SQLITE_ROW);
	w->sum = sqlite3_column_int64(query, 0);
	sqlite3_finalize(query);
	sqlite3_close(db);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS_MAX];
	int threads = argc == 3 ? atoi(argv[1]) : 0;

	if (threads < 1 || threads > THREADS_MAX) {
		fputs("Usage: sqlite-insert THREADS ROWS\n", stderr);
		return 2;
	}
	sqlite3_initialize();
	for (int i = 0; i < threads; i++) {
		worker[i].rows = atoi(argv[2]);
		if (pthread_create(&worker[i].thread, NULL, work, &worker[i])) {
			fputs("sqlite-insert: cannot start a thread\n", stderr);
			return 1;
		}
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(worker[i].thread, NULL);
		printf("%lld\n", worker[i].sum);
	}
	return fflush(stdout) ? 1 : 0;
}
