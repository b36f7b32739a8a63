/* lease.pml - the lease protocol of the supervisor and its workers, for Spin.
 *
 * Two pods, a supervisor with its lease table, two workers, an environment that changes the pods, and crashes of a
 * worker or of the supervisor with all its workers. A worker may hold both leases, or hold one and prefetch for the
 * other; in the program it holds up to eight, and no rule tells two from eight.
 *
 * What is claimed, in every order of events:
 *
 *   one actor     no two workers are at work on one pod at the same time
 *   not twice     a pod is deleted at most once
 *   never wrong   a pod is not deleted in a state in which it must not be
 *   written first nothing is deleted before the intent is on disk and the lease is granted
 *   honest        "somebody else removed it" is never said of a pod that this program deleted
 *   alone         a worker that dies with a lease in doubt takes no other lease with it
 *   nothing lost  a pod that stays deletable is deleted in the end (ltl nothing_lost, under weak fairness)
 *
 * Each part of the protocol can be left out, and the run shows that Spin then finds what goes wrong; so the claims
 * above are not empty:
 *
 *   -DWITHOUT_PRECONDITION  the delete carries no uid and resourceVersion
 *   -DRELEASE_BY_TIMER      a lease is taken back while its holder may still be at work
 *   -DWITHOUT_EPOCH         a restarted worker takes messages that were meant for its predecessor
 *   -DKEEP_ON_DEATH         the death of the holder does not end its leases
 *   -DDEATH_FREES_ONE       the death of the holder ends only one of its leases
 *   -DDOUBT_IN_COMPANY      a lease in doubt is granted beside others
 *   -DPREFETCH_WRITES       what is prefetched does not wait for the grant before it writes
 *   -DPREFETCH_KEEPS_END    an end that was prefetched is not looked at again when the grant says "verify first"
 *   -DWITHOUT_VERIFY_FIRST  the grant does not say that an earlier holder died
 *   -DGONE_AT_WRITE         a 404 to the delete ends as "gone" although the grant says "verify first"
 *
 * tests/model/run runs all of it. */

#define WORKERS     2
#define MAX_CRASHES 2

/* -- the API server ----------------------------------------------------------------------------------------------- */

bool exists[2] = true;
bool deletable[2] = true; /* the rules say: act */
bool changed[2];          /* by somebody else; once is enough */
bool ours[2];             /* this program deleted it */
bool removed[2];          /* somebody else did */
bool late[2];             /* the write of a dead worker is on its way, and its preconditions hold */

/* -- the supervisor: its lease on each pod ------------------------------------------------------------------------ */

mtype:phase = { NONE, NEW, WAITING, GRANTED, CLOSED };
mtype:phase phase[2] = NONE;
bool doubt[2]; /* an earlier holder died */
byte holder[2];
#define HOLDS(w, p) (phase[p] == GRANTED && holder[p] == w)

bool running[WORKERS] = true;
byte crashes = 0;

mtype:message = { PREFETCH, GRANT };
/* To a worker: what, which pod, verify first. */
chan socket[WORKERS] = [4] of { mtype:message, byte, bool };

/* -- the workers: what each does about each pod ------------------------------------------------------------------- */

mtype:at = { IDLE, READS, ACTS, REFUSED, GONE, UNCONFIRMED, DONE };
typedef action {
	mtype:at at = IDLE;
	bool granted; /* else it is prefetched */
	bool verify;  /* first: the grant says so */
	bool fresh    /* the pod is still as it was read */
}
typedef actions { action on[2] }
actions worker_of[WORKERS];
#define ACTION worker_of[w].on[p]
#define OTHER  worker_of[w].on[1 - p]

byte actors[2]; /* observation only */

/* Nothing that was read of this pod is still true. */
inline outdate(p)
{
	worker_of[0].on[p].fresh = false;
	worker_of[1].on[p].fresh = false;
	late[p] = false
}

inline delete(p)
{
	assert(exists[p] && deletable[p]); /* never wrong */
	assert(!ours[p]);                  /* not twice */
	exists[p] = false;
	ours[p] = true;
	outdate(p)
}

/* Somebody else changes the pod, which may take the reason to act away, or removes it. */
inline change(p)
{
	atomic {
		exists[p] && !changed[p] ->
			changed[p] = true;
			outdate(p);
			if
			:: deletable[p] = false
			:: exists[p] = false; removed[p] = true
			:: skip
			fi
	}
}

active proctype environment()
{
end_idle:
	do
	:: change(0)
	:: change(1)
	:: atomic { late[0] -> delete(0) }
	:: atomic { late[1] -> delete(1) }
	od
}

/* A nomination: the intent is on its way to the disk, and a worker that holds nothing may prefetch meanwhile. */
inline nominate(p)
{
	atomic {
		phase[p] == NONE && exists[p] && deletable[p] ->
			phase[p] = NEW;
			if
			:: running[0] && !HOLDS(0, 1 - p) && nfull(socket[0]) -> socket[0]!PREFETCH(p, false)
			:: running[1] && !HOLDS(1, 1 - p) && nfull(socket[1]) -> socket[1]!PREFETCH(p, false)
			:: skip
			fi
	}
}

/* A lease in doubt is granted alone. */
#ifdef DOUBT_IN_COMPANY
#define MAY_TAKE(w, p) true
#else
#define MAY_TAKE(w, p) (!HOLDS(w, 1 - p) || (!doubt[p] && !doubt[1 - p]))
#endif

inline give(w, p)
{
	atomic {
		phase[p] == WAITING && running[w] && MAY_TAKE(w, p) && nfull(socket[w]) ->
			phase[p] = GRANTED;
			holder[p] = w;
#ifdef WITHOUT_VERIFY_FIRST
			socket[w]!GRANT(p, false)
#else
			socket[w]!GRANT(p, doubt[p])
#endif
	}
}

inline take_back(p)
{
	phase[p] = WAITING;
	doubt[p] = true;
	holder[p] = 0
}

#ifdef DEATH_FREES_ONE
#define MAY_TAKE_BOTH !doubt[0]
#else
#define MAY_TAKE_BOTH true
#endif

/* Its death is proven: what it held waits again, before it has a successor. */
inline bury(w)
{
	atomic {
		!running[w] && (HOLDS(w, 0) || HOLDS(w, 1)) ->
			if
			:: HOLDS(w, 0) -> take_back(0)
			:: else
			fi;
			if
			:: HOLDS(w, 1) && MAY_TAKE_BOTH -> take_back(1)
			:: else
			fi
	}
}

#ifdef KEEP_ON_DEATH
#define IS_BURIED(w) true
#else
#define IS_BURIED(w) (!HOLDS(w, 0) && !HOLDS(w, 1))
#endif

inline start_again(w)
{
	atomic {
		!running[w] && IS_BURIED(w) ->
			running[w] = true;
#ifndef WITHOUT_EPOCH
			/* A new socketpair: what the predecessor did not read is gone. */
			do
			:: nempty(socket[w]) -> socket[w]?_, _, _
			:: empty(socket[w]) -> break
			od
#endif
	}
}

inline reset(w, p)
{
	ACTION.at = IDLE;
	ACTION.granted = false;
	ACTION.verify = false;
	ACTION.fresh = false
}

/* What was sent may still arrive. */
inline abandon(w, p)
{
	if
	:: ACTION.granted && ACTION.at == ACTS && ACTION.fresh -> late[p] = true
	:: true
	fi;
	if
	:: ACTION.granted -> actors[p]--
	:: else
	fi;
	reset(w, p)
}

inline kill(w)
{
	running[w] = false;
	abandon(w, 0);
	abandon(w, 1)
}

/* The supervisor dies, and its workers with it. The intents that are on disk wait again, in doubt. */
inline reopen(p)
{
	if
	:: phase[p] == NEW -> phase[p] = NONE
	:: phase[p] == WAITING || phase[p] == GRANTED -> take_back(p)
	:: else
	fi
}

inline fall()
{
	atomic {
		crashes < MAX_CRASHES ->
			crashes++;
			kill(0);
			kill(1);
			reopen(0);
			reopen(1)
	}
}

active proctype supervisor()
{
#ifdef RELEASE_BY_TIMER
	bool fired = false;
#endif

end_idle:
	do
	:: nominate(0)
	:: nominate(1)
	:: atomic { phase[0] == NEW -> phase[0] = WAITING } /* the intent is on disk */
	:: atomic { phase[1] == NEW -> phase[1] = WAITING }
	:: give(0, 0)
	:: give(0, 1)
	:: give(1, 0)
	:: give(1, 1)
#ifndef KEEP_ON_DEATH
	:: bury(0)
	:: bury(1)
#endif
	:: fall()
	:: start_again(0)
	:: start_again(1)
#ifdef RELEASE_BY_TIMER
	:: atomic { phase[0] == GRANTED && !fired -> fired = true; take_back(0) }
#endif
	od
}

/* At most one is prefetched: another prefetch says that the first went elsewhere. */
inline on_prefetch(p)
{
	if
	:: !OTHER.granted -> reset(w, 1 - p)
	:: else
	fi;
	if
	:: !ACTION.granted -> reset(w, p); ACTION.at = READS
	:: else
	fi
}

/* What was prefetched too long ago is read again, and so is an end that an earlier holder may have made. */
inline on_grant(p)
{
	actors[p]++;
	assert(actors[p] <= 1); /* one actor */
	ACTION.granted = true;
	ACTION.verify = verify;
	if
	:: true -> ACTION.at = READS
#ifdef PREFETCH_KEEPS_END
	:: ACTION.at != IDLE
#else
	:: ACTION.at != IDLE && (ACTION.at == ACTS || !verify)
#endif
	fi;
	verify = false
}

inline read(p)
{
	atomic {
		ACTION.at == READS ->
			ACTION.fresh = true;
			if
			:: !exists[p] && !ACTION.verify -> ACTION.at = GONE
			:: !exists[p] && ACTION.verify -> ACTION.at = UNCONFIRMED
			:: exists[p] && deletable[p] -> ACTION.at = ACTS
			:: exists[p] && !deletable[p] -> ACTION.at = REFUSED
			fi
	}
}

#ifdef GONE_AT_WRITE
#define PERHAPS_OURS(p) false
#else
#define PERHAPS_OURS(p) ACTION.verify
#endif
#ifdef PREFETCH_WRITES
#define MAY_WRITE(p) true
#else
#define MAY_WRITE(p) ACTION.granted
#endif

inline write(p)
{
	atomic {
		ACTION.at == ACTS && MAY_WRITE(p) ->
			assert(phase[p] == GRANTED); /* written first */
			if
#ifdef WITHOUT_PRECONDITION
			:: true -> delete(p); ACTION.at = DONE
#else
			:: exists[p] && ACTION.fresh -> delete(p); ACTION.at = DONE
			:: exists[p] && !ACTION.fresh -> ACTION.at = READS /* 409 */
			:: !exists[p] && PERHAPS_OURS(p) -> ACTION.at = UNCONFIRMED /* 404 */
			:: !exists[p] && !PERHAPS_OURS(p) -> ACTION.at = GONE
#endif
			fi
	}
}

inline result(p)
{
	atomic {
		ACTION.granted && ACTION.at != IDLE && ACTION.at != READS && ACTION.at != ACTS ->
			assert(ACTION.at != GONE || removed[p]); /* honest */
			if
			:: HOLDS(w, p) ->
				phase[p] = CLOSED;
				holder[p] = 0;
				doubt[p] = false
			:: else
			fi;
			actors[p]--;
			reset(w, p)
	}
}

proctype worker(byte w)
{
	bool verify;

end_idle:
	do
	:: atomic { /* killed, at any point */
		running[w] && crashes < MAX_CRASHES ->
			assert(!(worker_of[w].on[0].granted && worker_of[w].on[1].granted) ||
			       (!doubt[0] && !doubt[1])); /* alone */
			crashes++;
			kill(w)
	   }
	:: atomic {
		running[w] && nempty(socket[w]) ->
			if
			:: socket[w]?PREFETCH, 0, _ -> on_prefetch(0)
			:: socket[w]?PREFETCH, 1, _ -> on_prefetch(1)
			:: socket[w]?GRANT, 0, verify -> on_grant(0)
			:: socket[w]?GRANT, 1, verify -> on_grant(1)
			fi
	   }
	:: read(0)
	:: read(1)
	:: write(0)
	:: write(1)
	:: result(0)
	:: result(1)
	od
}

init
{
	atomic {
		run worker(0);
		run worker(1)
	}
}

ltl nothing_lost { <> (!exists[0] || !deletable[0]) && <> (!exists[1] || !deletable[1]) }
