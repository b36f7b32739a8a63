/* Two replicas that share two clusters: who leads is what the Lease says, who should lead is only preferred (kube/leader.h).
 * Each has a clock of its own, and one may be a tick ahead of the other. Requests arrive late, or never; so do answers.
 * A write that has begun ends within a tick of its leader's last.
 *
 * Claims:
 *   two        nobody leads, or still writes by a Lease given back, while another leads
 *   settled    each cluster comes to the replica that both prefer, and stays there, under weak fairness
 *   still      where they do not agree on who is preferred, a cluster that is led stays where it is
 * A mutant (-DPART) leaves one rule out. */

#define LEASE  5 /* ticks that a Lease is held after it was seen to change */
#define RENEW  2 /* ticks after sending its last renewal that a leader leads */
#define HOLD   5 /* more ticks for which a free Lease is left to the preferred one: a try, an answer, and what clocks differ */
#define NOBODY 2

#ifndef CLUSTERS
#define CLUSTERS 2
#endif
#ifndef FAVOURITE
#define FAVOURITE 0 /* of cluster 0; of cluster 1 the other */
#endif
#ifndef LOSSES
#define LOSSES 1
#endif

#define IX(r, c) ((r) * CLUSTERS + (c))
#define EACH     (2 * CLUSTERS)

/* The server: a record for each cluster, and whether each replica knows its newest version. */
byte holder[CLUSTERS], claim[CLUSTERS];
bit current[EACH], changed[EACH];

mtype = { none, renewal, release };

/* Of a replica and a cluster. */
byte left[EACH];      /* ticks that it still leads */
byte unchanged[EACH]; /* ticks since the record was seen to change */
bit yielding[EACH], writing[EACH], tried[EACH], applied[EACH];
mtype asked[EACH];    /* a request under way */
byte age[EACH];       /* ticks since it was sent */

byte ahead = 1; /* of the clock of replica 0: 0, 1, 2 = behind, even, ahead */
byte losses = LOSSES;

/* Whom each prefers: cluster 0 goes to replica 0, cluster 1 to replica 1. */
#ifdef DISAGREE
#define PREFERRED(r, c) (r) /* each itself */
#else
#define PREFERRED(r, c) (FAVOURITE == 0 -> (c) : 1 - (c))
#endif

#define LEADS(r, c)   (left[IX(r, c)] > 0)
#define OTHER(r)      (1 - (r))
#define CLAIMED(r, c) (claim[c] == PREFERRED(r, c) && PREFERRED(r, c) != (r))

/* The Lease is free, or was this replica's own and is claimed. */
#define LEFT_TO_OTHER(r, c)                                                                                  \
	(PREFERRED(r, c) != (r) && (holder[c] != (r) || CLAIMED(r, c)) &&                                    \
	 !(holder[c] == OTHER(r) && unchanged[IX(r, c)] < LEASE) &&                                          \
	 unchanged[IX(r, c)] < HOLD + (holder[c] == NOBODY -> 0 : LEASE))

inline check(r, c)
{
	assert(!(LEADS(r, c) && (LEADS(OTHER(r), c) || writing[IX(OTHER(r), c)]))) /* two */
}

inline written(r, c)
{
	current[IX(r, c)] = 1;
	current[IX(OTHER(r), c)] = 0;
	changed[IX(OTHER(r), c)] = 1;
	changed[IX(r, c)] = 0;
	unchanged[IX(r, c)] = 0
}

/* It arrives, unless another write came before. */
inline arrive(r, c)
{
	if
	:: !current[IX(r, c)] -> asked[IX(r, c)] = none
	:: else ->
		if
		:: asked[IX(r, c)] == release -> holder[c] = NOBODY
		:: else ->
			if
			:: holder[c] != r -> claim[c] = NOBODY
			:: else
			fi;
			holder[c] = r
		fi;
		written(r, c);
		applied[IX(r, c)] = 1
	fi
}

inline answer(r, c)
{
	if
	:: asked[IX(r, c)] == renewal && age[IX(r, c)] < RENEW ->
#ifdef COUNTS_FROM_THE_ANSWER
		left[IX(r, c)] = RENEW;
#else
		left[IX(r, c)] = RENEW - age[IX(r, c)];
#endif
		check(r, c)
	:: else
	fi;
	asked[IX(r, c)] = none;
	applied[IX(r, c)] = 0
}

/* One look at the Lease in each tick, and what follows from it. */
inline try(r, c)
{
	tried[IX(r, c)] = 1;
	age[IX(r, c)] = 0;
	if
	:: left[IX(r, c)] > 0 && yielding[IX(r, c)] -> skip
	:: left[IX(r, c)] > 0 && !yielding[IX(r, c)] ->
		current[IX(r, c)] = (holder[c] == r -> 1 : current[IX(r, c)]);
#ifdef YIELDS_TO_ANY_CLAIM
		yielding[IX(r, c)] = (claim[c] == OTHER(r));
#else
		yielding[IX(r, c)] = CLAIMED(r, c);
#endif
		asked[IX(r, c)] = (yielding[IX(r, c)] -> none : renewal)
	:: else ->
		if
		:: changed[IX(r, c)] -> unchanged[IX(r, c)] = 0; changed[IX(r, c)] = 0
		:: else
		fi;
		current[IX(r, c)] = 1;
		if
#ifdef TAKES_AT_ONCE
		:: false
#else
		:: holder[c] == OTHER(r) && unchanged[IX(r, c)] < LEASE ->
#endif
#ifndef WITHOUT_CLAIM
			if
			:: PREFERRED(r, c) == r && claim[c] != r -> claim[c] = r; current[IX(OTHER(r), c)] = 0
			:: else
			fi
#else
			skip
#endif
#ifndef WITHOUT_HOLD
		:: LEFT_TO_OTHER(r, c) -> skip
#endif
		:: else -> asked[IX(r, c)] = renewal
		fi
	fi
}

inline let_go(r, c)
{
#ifdef DISAGREE
	assert(!yielding[IX(r, c)]); /* still */
#endif
	left[IX(r, c)] = 0;
	yielding[IX(r, c)] = 0;
	asked[IX(r, c)] = release;
	age[IX(r, c)] = 0
}

inline pass(r, c)
{
	if
	:: left[IX(r, c)] > 0 -> left[IX(r, c)]--
	:: else
	fi;
	yielding[IX(r, c)] = (left[IX(r, c)] > 0 && yielding[IX(r, c)]);
	tried[IX(r, c)] = 0;
	unchanged[IX(r, c)] = (unchanged[IX(r, c)] < LEASE + HOLD -> unchanged[IX(r, c)] + 1 : LEASE + HOLD);
	age[IX(r, c)] = (asked[IX(r, c)] != none && age[IX(r, c)] < RENEW -> age[IX(r, c)] + 1 : age[IX(r, c)])
}

/* Time goes on when all that is bounded by it has happened. */
#define MAY_PASS(r, c)                                                                                       \
	(tried[IX(r, c)] && (asked[IX(r, c)] == none || age[IX(r, c)] == 0) &&                               \
	 !(writing[IX(r, c)] && left[IX(r, c)] == 0))

#ifdef WITHOUT_DRAIN
#define UNDER_WAY(r, c) false
#else
#define UNDER_WAY(r, c) writing[IX(r, c)]
#endif

/* The watcher of a cluster. */
proctype watcher(byte r; byte c)
{
	do
	:: atomic { asked[IX(r, c)] == none && !tried[IX(r, c)] -> try(r, c) }
	:: atomic { asked[IX(r, c)] != none && !applied[IX(r, c)] -> arrive(r, c) }
	:: atomic { asked[IX(r, c)] != none && applied[IX(r, c)] -> answer(r, c) }
	:: atomic { asked[IX(r, c)] != none && losses > 0 ->
		losses--;
		asked[IX(r, c)] = none;
		applied[IX(r, c)] = 0
	}
	:: atomic { yielding[IX(r, c)] && asked[IX(r, c)] == none && !UNDER_WAY(r, c) -> let_go(r, c) }
	od
}

/* A worker of a cluster: a write begins while its replica leads, and ends. */
proctype worker(byte r; byte c)
{
	do
	:: atomic { left[IX(r, c)] > 0 && !yielding[IX(r, c)] && !writing[IX(r, c)] ->
		writing[IX(r, c)] = 1;
		check(r, c)
	}
	:: atomic { writing[IX(r, c)] -> writing[IX(r, c)] = 0 }
	od
}

proctype clock(byte r)
{
	do
	:: atomic { MAY_PASS(r, 0) && MAY_PASS(r, CLUSTERS - 1) && (r == 0 -> ahead < 2 : ahead > 0) ->
		ahead = (r == 0 -> ahead + 1 : ahead - 1);
		pass(r, 0);
#if CLUSTERS > 1
		pass(r, 1)
#endif
	}
	od
}

init
{
	byte r, c;

	atomic {
		for (c : 0 .. CLUSTERS - 1) {
			holder[c] = 1; /* it has led both */
			claim[c] = NOBODY
		}
		for (r : 0 .. EACH - 1) {
			asked[r] = none
		}
		for (r : 0 .. 1) {
			run clock(r);
			for (c : 0 .. CLUSTERS - 1) {
				run watcher(r, c);
				run worker(r, c)
			}
		}
	}
}

#ifdef LIVENESS
ltl settled { <>[] (holder[0] == FAVOURITE) }
#endif
