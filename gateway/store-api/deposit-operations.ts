import {
  type CreateDepositBody,
  createDepositBodySchema,
  depositListSchema,
  idParamsSchema,
  listDepositsQuerySchema,
  lookupQuerySchema,
  type StoreDeposit,
  storeDepositSchema,
} from '../../contract/store-api.ts'
import { depositEventsSchema } from '../../contract/webhooks.ts'
import { acceptedGames } from '../deposits/deposit.ts'
import { hasMisreadCharacter, isAllowedUrl } from '../deposits/origins.ts'
import { gamesOfStore } from '../deposits/store.ts'
import { readDepositEvents } from '../events/store.ts'
import type { CallingStore } from '../http/call.ts'
import { type FieldError, refuse } from '../http/refusal.ts'
import type { DepositCalls, StoreApiDeps } from './deps.ts'
import { smallestSum } from './offerings.ts'
import { type Operation, ok, operation } from './operation.ts'

export const DEPOSIT_OPERATIONS: readonly Operation[] = [
  operation({
    id: 'createDeposit',
    method: 'POST',
    path: '/v1/deposits',
    scope: 'deposits:write',
    idempotent: true,
    group: 'Deposits',
    summary: 'Open a deposit',
    description: 'Send the shopper to the `url` of the answer.',
    takes: { body: createDepositBodySchema },
    answer: storeDepositSchema,
    statuses: {
      200: 'The deposit was opened by an earlier call with this externalId and the same values.',
      201: 'The deposit was opened.',
    },
    example: {
      externalId: 'order-1001',
      currency: 'USD',
      backToStoreUrl: 'https://store.example/wallet',
    },
    refusals: [
      'order_conflict',
      'invalid_trade_link',
      'store_disabled',
      'too_many_deposits',
      'technical_works',
    ],
    async handle(deps, store, { body: request }) {
      const body = withPlainOrigin(request)
      await refuseNew(deps, store, { body, errors: foreignUrls(request, store.origins) })
      await refuseUnpayable(deps, store, body)
      const { deposit, created } = await deps.createDeposit(store, body)
      return { status: created ? 201 : 200, body: deposit }
    },
  }),
  operation({
    id: 'listDeposits',
    method: 'GET',
    path: '/v1/deposits',
    scope: 'deposits:read',
    group: 'Deposits',
    summary: 'List deposits, newest first',
    takes: { query: listDepositsQuerySchema },
    answer: depositListSchema,
    async handle(deps, store, { query }) {
      const page = await deps.listDeposits(store.id, query)
      if (page.deposits.length === 0) await refuseUnknownCursor(deps, store, query.after)
      return ok(page)
    },
  }),
  operation({
    id: 'lookupDeposit',
    method: 'GET',
    path: '/v1/deposits/lookup',
    scope: 'deposits:read',
    group: 'Deposits',
    summary: 'Read a deposit by your externalId',
    takes: { query: lookupQuerySchema },
    answer: storeDepositSchema,
    refusals: ['deposit_not_found'],
    handle: async (deps, store, { query }) => ok(await findDeposit(deps, store, query)),
  }),
  operation({
    id: 'getDeposit',
    method: 'GET',
    path: '/v1/deposits/:id',
    scope: 'deposits:read',
    group: 'Deposits',
    summary: 'Read a deposit',
    takes: { params: idParamsSchema },
    answer: storeDepositSchema,
    refusals: ['deposit_not_found'],
    handle: async (deps, store, { params }) =>
      ok(await findDeposit(deps, store, { depositId: BigInt(params.id) })),
  }),
  operation({
    id: 'cancelDeposit',
    method: 'POST',
    path: '/v1/deposits/:id/cancel',
    scope: 'deposits:write',
    idempotent: true,
    group: 'Deposits',
    summary: 'Cancel a deposit',
    description:
      'An open offer is cancelled on Steam first. If the shopper accepts it at the same moment, the deposit succeeds.',
    takes: { params: idParamsSchema },
    answer: storeDepositSchema,
    statuses: {
      200: 'The deposit has ended.',
      202: 'Steam is asked to cancel the offer. An event reports the result.',
    },
    refusals: ['deposit_not_found', 'deposit_busy', 'not_cancellable'],
    async handle(deps, store, { params }) {
      const depositId = BigInt(params.id)
      const cancelled = (await deps.cancelDeposit(store.id, depositId)) ?? refuse('deposit_not_found')
      return {
        status: cancelled === 'ended' ? 200 : 202,
        body: await findDeposit(deps, store, { depositId }),
      }
    },
  }),
  operation({
    id: 'listDepositEvents',
    method: 'GET',
    path: '/v1/deposits/:id/events',
    scope: 'deposits:read',
    group: 'Events',
    summary: 'List the events of a deposit',
    takes: { params: idParamsSchema },
    answer: depositEventsSchema,
    refusals: ['deposit_not_found'],
    async handle(deps, store, { params }) {
      const depositId = BigInt(params.id)
      await findDeposit(deps, store, { depositId })
      return ok({ events: await readDepositEvents(deps.db, depositId) })
    },
  }),
]

async function findDeposit(
  deps: DepositCalls,
  { id }: CallingStore,
  by: { depositId: bigint } | { externalId: string },
): Promise<StoreDeposit> {
  return (await deps.findDeposit(id, by)) ?? refuse('deposit_not_found')
}

/** Refuses a cursor that is not a deposit of the store, because the list would seem to end there. */
async function refuseUnknownCursor(
  deps: DepositCalls,
  { id }: CallingStore,
  after: string | undefined,
): Promise<void> {
  if (after === undefined || (await deps.findDeposit(id, { depositId: BigInt(after) })) !== undefined) return
  refuse('invalid_request', [
    { path: 'after', message: 'is not a deposit of your store: begin the list again' },
  ])
}

/**
 * Refuses a new deposit for these errors. A call that repeats an earlier one must find its deposit, even if the
 * operator has changed the store since.
 */
async function refuseNew(
  deps: DepositCalls,
  { id }: CallingStore,
  { body: { externalId }, errors }: { body: CreateDepositBody; errors: FieldError[] },
): Promise<void> {
  if (errors.length === 0 || (await deps.findDeposit(id, { externalId })) !== undefined) return
  refuse('invalid_request', errors)
}

function foreignUrls(body: CreateDepositBody, origins: string[]): FieldError[] {
  const fields: FieldError[] = (['backToStoreUrl', 'redirectUrl'] as const).flatMap((path) => {
    const url = body[path]
    if (url === undefined || isAllowedUrl(url, origins)) return []
    const message = hasMisreadCharacter(url)
      ? 'must not contain a space, a backslash or an invisible character: write them URL-encoded'
      : `must be an http(s) URL with an origin that is registered for the store: ${origins.join(', ')}`
    return [{ path, message }]
  })
  const { embedOrigin } = body
  if (embedOrigin !== undefined && !origins.includes(plainOrigin(embedOrigin))) {
    const message = `must be an origin that is registered for the store, without a path: ${origins.join(', ')}`
    fields.push({ path: 'embedOrigin', message })
  }
  return fields
}

/** Returns the origin in the form that browsers use: without a trailing slash, in lower case. */
const plainOrigin = (origin: string): string => origin.replace(/\/$/, '').toLowerCase()

const withPlainOrigin = (body: CreateDepositBody): CreateDepositBody =>
  body.embedOrigin === undefined ? body : { ...body, embedOrigin: plainOrigin(body.embedOrigin) }

/** Refuses a maximum below every minimum, because the deposit could never be paid. */
async function refuseUnpayable(
  deps: StoreApiDeps,
  store: CallingStore,
  body: CreateDepositBody,
): Promise<void> {
  const { maxAmount, games, currency } = body
  if (maxAmount === undefined) return
  const accepted = acceptedGames(await gamesOfStore(deps.db, store.id), games)
  const least = await smallestSum(deps, { games: accepted ?? undefined, currency })
  if (least === undefined || maxAmount >= least) return
  const message = `must be at least ${least}, the smallest sum of a trade with the games that this deposit accepts`
  await refuseNew(deps, store, { body, errors: [{ path: 'maxAmount', message }] })
}
