/**
 * Reads each store's webhooks. If asked, also sends a signed test to each enabled webhook, as a store can request it. A
 * test is not an event.
 */
import { pino } from 'pino'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'
import { createLimiter } from '../kit/limiter.ts'
import { reasonOf } from '../kit/reason.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import type { OwnConfig } from '../operations/operation.ts'
import { allowanceFinder } from '../webhooks/address-store.ts'
import { type ChallengeDeps, challengeEndpoint } from '../webhooks/challenge.ts'
import { type EndpointRow, endpointsOf } from '../webhooks/endpoint-store.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { createSender } from '../webhooks/sender.ts'
import type { StoreState, WebhookAnswer } from './readiness.ts'
import { readStores } from './readiness-store.ts'

/** How many tests run at the same time. Each lasts up to 15 seconds. */
const AT_ONCE = 16
/** No test begins after this time, so even a report on a thousand stores takes only minutes. */
const BEGIN_MS = 60_000

export type TestsDeps = {
  config: OwnConfig
  db: Db
  /** The machine's clock, by which stores check signatures. */
  clock: TillClock
  sendsWebhooks: boolean
  send?: ChallengeDeps['send']
}
type TestedEndpoint = { endpoint: EndpointRow; answer: WebhookAnswer | undefined }

export async function readStoreStates(
  deps: TestsDeps,
  nowMs = () => performance.now(),
): Promise<StoreState[]> {
  const found: { id: bigint; name: string; places: TestedEndpoint[] }[] = []
  for (const { id, name } of await readStores(deps.db)) {
    const places = (await endpointsOf(deps.db, id)).map((endpoint) => ({ endpoint, answer: undefined }))
    found.push({ id, name, places })
  }
  if (deps.sendsWebhooks)
    await testAll(
      deps,
      found.flatMap(({ places }) => places),
      nowMs,
    )
  return found.map(({ id, name, places }) => ({
    storeId: id,
    name,
    endpoints: places.map(({ endpoint: { id: endpointId, state, url }, answer }) => {
      return { endpointId, state, url, answer }
    }),
  }))
}

async function testAll(deps: TestsDeps, places: TestedEndpoint[], nowMs: () => number): Promise<void> {
  const [test, inTurn, beginMs] = [tester(deps), createLimiter(AT_ONCE), nowMs()]
  const enabled = places.filter(({ endpoint }) => endpoint.state === 'enabled')
  const work = enabled.map((place) =>
    inTurn(async () => {
      const isLate = nowMs() - beginMs > BEGIN_MS
      place.answer = isLate ? { kind: 'left_out' } : await test(place.endpoint)
    }),
  )
  await Promise.all(work)
}

function tester({ config, db, clock, send }: TestsDeps): (endpoint: EndpointRow) => Promise<WebhookAnswer> {
  const box = createSecretBox(config.masterKey, config.oldMasterKeys)
  const deps = {
    clock,
    log: pino({ enabled: false }),
    send: send ?? createSender({ mode: config.webhookMode, findAllowance: allowanceFinder(db) }),
    secretsOf: (signer: EndpointRow) => secretsOf(box, signer, clock.now()),
  }
  return async (endpoint) => {
    try {
      // The limit on the tests of one store applies only to tests that the store requests.
      const { result } = await challengeEndpoint({ ...deps, testsUnderWay: new Map() }, endpoint)
      return result.kind === 'failed' ? result : { kind: 'answered', status: result.status }
    } catch (error) {
      return { kind: 'failed', reason: reasonOf(error) }
    }
  }
}
