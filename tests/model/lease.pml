/* lease.pml - the lease protocol of supervisor/actions/lease.h, for Spin.
 *
 * One pod, a supervisor with its lease table, two worker slots, an environment that changes the pod, and crashes.
 * What is claimed, in every order of events:
 *
 *   one actor     no two workers are at work on the pod at the same time
 *   not twice     the pod is deleted at most once
 *   never wrong   the pod is not deleted in a state in which it must not be
 *   nothing lost  a pod that stays deletable is deleted in the end (ltl nothing_lost, under weak fairness)
 *
 * Each part of the protocol can be left out, and the run shows that Spin then finds what goes wrong; so the claims above
 * are not empty:
 *
 *   -DWITHOUT_PRECONDITION   the delete carries no uid and resourceVersion
 *   -DRELEASE_BY_TIMER       a lease is taken back while its holder may still be at work
 *   -DWITHOUT_EPOCH          a restarted worker takes messages that were meant for its predecessor
 *   -DKEEP_ON_DEATH          the death of the holder does not end the lease
 *
 * tests/model/run runs all of it. */

#define WORKERS     2
#define NOBODY      WORKERS
#define MAX_CHANGES 2 /* of the pod by others */
#define MAX_CRASHES 3

/* The pod as the API server holds it. */
byte version = 1;      /* resourceVersion */
bool exists = true;
bool deletable = true; /* the rules say: act */
byte deletes = 0;

/* What the supervisor knows. */
byte holder = NOBODY; /* of the one lease on this pod */
byte holder_epoch = 0;
byte epoch[WORKERS]; /* incarnation in that slot */
bool running[WORKERS];

/* Observation only. */
byte actors = 0;
bool acting[WORKERS];
byte crashes = 0;

/* The two ends of a worker's socket: GRANT{epoch}. */
chan grant[WORKERS] = [2] of { byte };

/* Somebody else: changes the pod, which may take the reason to act away. */
active proctype environment()
{
	byte changes = 0;

	do
	:: atomic {
		exists && changes < MAX_CHANGES ->
			changes++;
			version++;
			if
			:: deletable = false
			:: skip
			fi
	   }
	:: !exists || changes == MAX_CHANGES -> break
	od
}

inline start_again(slot)
{
	atomic {
		!running[slot] ->
			running[slot] = true;
			epoch[slot]++;
#ifndef WITHOUT_EPOCH
			/* A new socketpair: what the predecessor did not read is gone. */
			do
			:: nempty(grant[slot]) -> grant[slot]?_
			:: empty(grant[slot]) -> break
			od
#endif
	}
}

inline give(slot)
{
	atomic {
		holder == NOBODY && exists && deletable && running[slot] && nfull(grant[slot]) ->
			holder = slot;
			holder_epoch = epoch[slot];
			grant[slot]!epoch[slot]
	}
}

active proctype supervisor()
{
#ifdef RELEASE_BY_TIMER
	bool fired = false;
#endif

end_idle:
	do
	:: give(0)
	:: give(1)
#ifndef KEEP_ON_DEATH
	:: atomic { /* proven death: the process is gone, or a successor has its slot */
		holder != NOBODY && (!running[holder] || epoch[holder] != holder_epoch) -> holder = NOBODY
	   }
#endif
#ifdef RELEASE_BY_TIMER
	:: atomic { holder != NOBODY && !fired -> fired = true; holder = NOBODY }
#endif
	:: start_again(0)
	:: start_again(1)
	od
}

/* At any of these points the worker may be killed. */
inline may_crash()
{
	if
	:: atomic {
		crashes < MAX_CRASHES ->
			crashes++;
			running[slot] = false;
			acting[slot] = false;
			actors--;
			goto end_idle
	   }
	:: skip
	fi
}

proctype worker(byte slot)
{
	byte mine, seen;
	bool act;

end_idle:
	do
	:: atomic { /* killed while idle, a grant may be on its way */
		running[slot] && crashes < MAX_CRASHES ->
			crashes++;
			running[slot] = false
	   }
	:: atomic {
		running[slot] && nempty(grant[slot]) ->
			grant[slot]?mine;
#ifndef WITHOUT_EPOCH
			if
			:: mine != epoch[slot] -> goto end_idle
			:: else
			fi;
#endif
			acting[slot] = true;
			actors++;
			assert(actors <= 1) /* one actor */
	   };
	   may_crash();

	   /* A fresh read, judged again. */
	   atomic { seen = version; act = exists && deletable };
	   may_crash();

	   if
	   :: act ->
		atomic {
#ifdef WITHOUT_PRECONDITION
			assert(exists && deletable); /* never wrong */
			exists = false;
			deletes++;
#else
			if
			:: exists && seen == version ->
				assert(deletable); /* never wrong */
				exists = false;
				deletes++
			:: else /* 409 or 404 */
			fi;
#endif
			assert(deletes <= 1) /* not twice */
		}
	   :: else
	   fi;
	   may_crash();

	   /* RESULT. */
	   atomic {
		acting[slot] = false;
		actors--;
		if
		:: holder == slot && holder_epoch == mine -> holder = NOBODY
		:: else
		fi
	   }
	od
}

init
{
	atomic {
		running[0] = true;
		running[1] = true;
		run worker(0);
		run worker(1)
	}
}

ltl nothing_lost { [] (([] deletable) -> <> (deletes == 1 || !deletable)) }
