/**
 * Proofs and other checks that `npm test` runs in part or not at all, with the command that runs each completely.
 * `npm test` prints them.
 */

type NotRunHere = { what: string; command: string }

export const NOT_RUN_HERE: readonly NotRunHere[] = [
  { what: '500 seeds on PostgreSQL', command: 'npm run prove -- simulate --level real --seeds 500' },
  { what: '10,000 seeds of the pure rules', command: 'npm run prove -- simulate --level pure --seeds 10000' },
  { what: 'planted defects on PostgreSQL', command: 'npm run prove -- defects --level real' },
  { what: 'new seeds for eight hours', command: 'npm run prove -- night --hours 8' },
  { what: '200 rounds of kill -9, and the time to recover', command: 'npm run prove -- kill --rounds 200' },
  { what: '10 rounds without the database', command: 'npm run prove -- failover' },
  { what: 'a connection cut at every message', command: 'npm run prove -- cut --rounds 200' },
  {
    what: '20,000 webhooks over a failing network',
    command: 'PROOF_EVENTS=20000 npm test -- proofs/store/events',
  },
  { what: '20,000 generated requests', command: 'PROOF_REQUESTS=20000 npm test -- proofs/store/requests' },
  {
    what: 'query plans with a million deposits',
    command: 'PROOF_DEPOSITS=1000000 npm test -- proofs/store/query-plans',
  },
  { what: 'a database lost under load and restored', command: 'npm run prove -- restore' },
  { what: 'gateways replaced one after the other', command: 'npm run prove -- rolling' },
  { what: 'an item paid in a browser and sold on a market', command: 'npm run prove -- sale' },
  { what: 'sales under every fault and lie, and planted defects', command: 'npm run prove -- sales' },
  { what: 'sales under faults, on PostgreSQL', command: 'npm run prove -- sales --level real --seeds 60' },
  { what: 'gateway and vault killed in the middle of sales', command: 'npm run prove -- kill-sales' },
  { what: 'a year of a million deposits: sweeps, lists and jobs', command: 'npm run prove -- year' },
  {
    what: '1,000 sequences of Steam’s failures',
    command: 'PROOF_SCRIPTS=1000 npm test -- gateway/steam/web/failures',
  },
  { what: '40 random shoppers at the real page', command: 'PROOF_SHOPPERS=40 npm test -- e2e/model' },
  { what: 'proxies, service file and image, checked by their programs', command: 'npm run prove -- deploy' },
  { what: 'the stores of the documents in Python and PHP', command: 'npm run prove -- recipes' },
  { what: 'Firefox and WebKit, if they are installed', command: 'npm run prove -- engines' },
  { what: 'every attack, and each defence switched off', command: 'npm run prove -- attacks' },
  { what: 'mutations of the money core', command: 'npm run prove -- mutate' },
  { what: 'benches: figures compared with their limits', command: 'npm run bench' },
  { what: 'pictures of every screen, the main ones compared', command: 'npm run gallery -- --check' },
  { what: 'the real Steam', command: 'npm run live' },
]
