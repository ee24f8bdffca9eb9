/** Games, prices and health: calls that any key of a store may make. */
import { gamesSchema, healthSchema, pricesQuerySchema, pricesSchema } from '../../contract/store-api.ts'
import { readGames, readHealth, readPrices } from './offerings.ts'
import { type Operation, ok, operation } from './operation.ts'

export const OFFERING_OPERATIONS: readonly Operation[] = [
  operation({
    id: 'listGames',
    method: 'GET',
    path: '/v1/games',
    group: 'Offerings',
    summary: 'Games that your store takes, with their minimum payments',
    takes: {},
    answer: gamesSchema,
    handle: async (deps, store) => ok(await readGames(deps, store.id)),
  }),
  operation({
    id: 'getPrices',
    method: 'GET',
    path: '/v1/prices',
    group: 'Offerings',
    summary: 'Current prices of items',
    description: 'These prices are not a promise: only the prices that the shopper sees count.',
    takes: { query: pricesQuerySchema },
    answer: pricesSchema,
    refusals: ['headers_too_large'],
    handle: async (deps, store, { query }) => ok(await readPrices(deps, store.id, query)),
  }),
  operation({
    id: 'getHealth',
    method: 'GET',
    path: '/v1/health',
    group: 'Offerings',
    summary: 'State of the till',
    takes: {},
    answer: healthSchema,
    handle: async (deps) => ok(await readHealth(deps)),
  }),
]
