/**
 * A signed `webhook.test`. An endpoint that repeats its challenge belongs to the store, because the store's own code
 * must have answered.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { TEST_TYPE, type TestMessage } from '../../contract/webhooks.ts'
import { refuse } from '../http/refusal.ts'
import { createPlaces, type Places } from '../kit/places.ts'
import { repeatsChallenge } from './challenge-answer.ts'
import type { DeliveryDeps } from './delivery.ts'
import type { EndpointRow } from './endpoint-store.ts'
import { isAccepted, type SendResult } from './sender.ts'
import { signWebhook } from './signature.ts'

export type ChallengeDeps = Pick<DeliveryDeps, 'clock' | 'log' | 'send' | 'secretsOf'> & {
  /** Limits how many calls of `webhook.test` each store has under way in this process. */
  challengePlaces: Places
}

export type Challenged = { result: SendResult; durationMs: number; isChallengeRepeated: boolean }

/**
 * The most tests of a store at a time in one process. Each occupies a connection, and keeps its caller waiting, for up
 * to 15 s.
 */
const MOST_TESTS = 2

export const createChallengePlaces = (): Places => createPlaces(MOST_TESTS)

/** Sends the test to `url`, by default the endpoint's own. Refuses a third simultaneous test of a store. */
export async function challengeEndpoint(
  deps: ChallengeDeps,
  endpoint: EndpointRow,
  url: string = endpoint.url,
): Promise<Challenged> {
  const key = String(endpoint.store_id)
  if (!deps.challengePlaces.take(key)) refuse('too_many_tests', { retryAfterS: 15 })
  try {
    return await sendChallenge(deps, endpoint, url)
  } finally {
    deps.challengePlaces.free(key)
  }
}

async function sendChallenge(deps: ChallengeDeps, endpoint: EndpointRow, url: string): Promise<Challenged> {
  const id = randomUUID()
  const nonce = randomBytes(24).toString('base64url')
  const data = { endpointId: String(endpoint.id), challenge: nonce }
  const timestamp = deps.clock.now().toISOString()
  const body = JSON.stringify({ id, type: TEST_TYPE, timestamp, data } satisfies TestMessage)
  const headers = signWebhook(deps.secretsOf(endpoint), { id, body, at: deps.clock.machineNow() })
  const begin = performance.now()
  const result = await deps.send({ storeId: endpoint.store_id, url, headers, body })
  const durationMs = Math.round(performance.now() - begin)
  if (result.kind === 'failed') {
    const about = { store: String(endpoint.store_id), endpoint: String(endpoint.id), result: result.reason }
    deps.log.info(about, 'test of a webhook got no answer')
  }
  const isChallengeRepeated =
    result.kind === 'answered' && isAccepted(result) && repeatsChallenge(result.text, nonce)
  return { result, durationMs, isChallengeRepeated }
}
