// SPDX-License-Identifier: GPL-2.0
/* Slot 1, 200 percent: scaled::*. Slot 2, 50 percent: other::*. */
#include <cstdlib>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "common.h"

static unsigned int in_destructor;

struct Guard {
	~Guard() { in_destructor = percent(); }
};

struct Abstract {
	virtual ~Abstract() {}
	virtual int call(int n) = 0;
};

namespace scaled {

NOINLINE int thrower(int n)
{
	std::string text(100, 'x');

	if (n == 0)
		throw std::runtime_error(text);
	return thrower(n - 1) + 1;
}

NOINLINE int catcher(int n)
{
	try {
		return thrower(n);
	} catch (std::exception &e) {
		return at(200) ? 7 : -1;
	}
}

struct Derived : Abstract {
	int call(int n) override
	{
		return at(200) ? n + 1 : -1;
	}
};

template <typename T> NOINLINE T generic(T n)
{
	__asm__ volatile("");
	return at(200) ? n + 1 : -1;
}

NOINLINE void wait()
{
	Guard guard;

	for (;;)
		pause();
}

NOINLINE void leave()
{
	Guard guard;

	pthread_exit(nullptr);
}

NOINLINE int with_lambda(int n)
{
	auto add = [&](int m) { return n + m; };

	return add(generic(n));
}

}

namespace other {

NOINLINE int passing(int n)
{
	Guard guard;

	return scaled::thrower(n) + 1;
}

NOINLINE int rethrower(int n)
{
	try {
		return scaled::thrower(n);
	} catch (...) {
		if (!at(50))
			std::abort();
		throw;
	}
}

}

NOINLINE static int unscaled(int n)
{
	Guard guard;

	return scaled::thrower(n) + 1;
}

static int catch_from(int (*call)(int), int n)
{
	try {
		call(n);
	} catch (std::runtime_error &e) {
		return e.what()[0] == 'x' && at(100) ? 1 : -1;
	}
	return 0;
}

static void *waiting(void *)
{
	scaled::wait();
	return nullptr;
}

static void *leaving(void *)
{
	scaled::leave();
	return nullptr;
}

static void hammer(int *wrong)
{
	int i;

	*wrong = 0;
	for (i = 0; i < 2000; i++) {
		*wrong += catch_from(other::rethrower, i % 5) != 1;
		*wrong += catch_from(other::passing, i % 5) != 1;
	}
}

int main()
{
	std::vector<std::thread> threads;
	int wrong[8], sum = 0;
	scaled::Derived derived;
	Abstract *abstract = &derived;
	pthread_t thread;

	find_fake();
	is_i64(catch_from(scaled::thrower, 0), 1, "thrown by the function");
	ok(at(100), "100 in the handler, and after it");
	is_i64(catch_from(scaled::thrower, 9), 1, "... after a recursion");
	is_i64(catch_from(unscaled, 3), 1, "... through another frame");
	ok(!fake_percent_p || in_destructor == 100, "destructors at 100");
	is_i64(catch_from(other::passing, 3), 1, "... through two functions");
	ok(!fake_percent_p || in_destructor == 50, "destructors of one at its");
	is_i64(catch_from(other::rethrower, 3), 1, "... and thrown again");
	is_i64(scaled::catcher(3), 7, "caught inside");
	ok(at(100), "back to 100");
	is_i64(abstract->call(1), 2, "a virtual function");
	is_i64(scaled::generic(1), 2, "a template");
	is_i64(scaled::generic(1L), 2, "and another instance");
	is_i64(scaled::with_lambda(1), 3, "a lambda inside");
	ok(at(100), "back to 100");

	in_destructor = 0;
	pthread_create(&thread, nullptr, waiting, nullptr);
	usleep(20000);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	ok(in_destructor, "destructors of a cancelled thread");
	in_destructor = 0;
	pthread_create(&thread, nullptr, leaving, nullptr);
	pthread_join(thread, nullptr);
	ok(in_destructor, "destructors at pthread_exit");

	for (int &w : wrong)
		threads.emplace_back(hammer, &w);
	for (std::thread &t : threads)
		t.join();
	for (int w : wrong)
		sum += w;
	is_i64(sum, 0, "exceptions in 8 threads");
	ok(at(100), "back to 100");
	return done();
}
