/**
 * Reads each store's webhooks. If asked, also sends each enabled webhook the signed test that a store can request.
 */
import { pino } from 'pino'
import type { Db } from '../db/client.ts'
import type { TillClock } from '../kit/clock.ts'
import { createLimiter } from '../kit/limiter.ts'
import { reasonOf } from '../kit/reason.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import type { ConfigWithKey } from '../operations/operation.ts'
import { allowanceFinder } from '../webhooks/address-store.ts'
import { type ChallengeDeps, challengeEndpoint, createChallengePlaces } from '../webhooks/challenge.ts'
import { type EndpointRow, endpointsOf } from '../webhooks/endpoint-store.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { createSender } from '../webhooks/sender.ts'
import type { StoreState, WebhookAnswer } from './readiness.ts'
import { readStores } from './readiness-store.ts'

/** How many tests run at the same time. Each lasts up to 15 seconds. */
const TESTS_AT_A_TIME = 16
/** No test begins later than this after the first, so testing a thousand stores takes little more than a minute. */
const LATEST_BEGIN_MS = 60_000

export type TestsDeps = {
  config: Pick<ConfigWithKey, 'masterKey' | 'oldMasterKeys' | 'webhookMode'>
  db: Db
  /** The machine's clock: stores compare the time of a signature with theirs. */
  clock: TillClock
  sendsWebhooks: boolean
  send?: ChallengeDeps['send']
}
type TestedEndpoint = { endpoint: EndpointRow; answer: WebhookAnswer | undefined }

export async function readStoreStates(
  deps: TestsDeps,
  nowMs = () => performance.now(),
): Promise<StoreState[]> {
  const stores: { id: bigint; name: string; isDisabled: boolean; tested: TestedEndpoint[] }[] = []
  for (const { id, name, disabledAt } of await readStores(deps.db)) {
    const isDisabled = disabledAt !== null
    const endpoints = isDisabled ? [] : await endpointsOf(deps.db, id)
    const tested = endpoints.map((endpoint) => ({ endpoint, answer: undefined }))
    stores.push({ id, name, isDisabled, tested })
  }
  if (deps.sendsWebhooks)
    await testAll(
      deps,
      stores.flatMap(({ tested }) => tested),
      nowMs,
    )
  return stores.map(({ id, name, isDisabled, tested }) => ({
    storeId: id,
    name,
    isDisabled,
    endpoints: tested.map(({ endpoint: { id: endpointId, state, url }, answer }) => {
      return { endpointId, state, url, answer }
    }),
  }))
}

/** Sets the answer of each enabled endpoint. */
async function testAll(deps: TestsDeps, endpoints: TestedEndpoint[], nowMs: () => number): Promise<void> {
  const [test, inTurn, beginMs] = [createTester(deps), createLimiter(TESTS_AT_A_TIME), nowMs()]
  const enabled = endpoints.filter(({ endpoint }) => endpoint.state === 'enabled')
  const work = enabled.map((tested) =>
    inTurn(async () => {
      const isLate = nowMs() - beginMs > LATEST_BEGIN_MS
      tested.answer = isLate ? { kind: 'left_out' } : await test(tested.endpoint)
    }),
  )
  await Promise.all(work)
}

function createTester({
  config,
  db,
  clock,
  send,
}: TestsDeps): (endpoint: EndpointRow) => Promise<WebhookAnswer> {
  const box = createSecretBox(config.masterKey, config.oldMasterKeys)
  const deps = {
    clock,
    log: pino({ enabled: false }),
    send: send ?? createSender({ mode: config.webhookMode, findAllowance: allowanceFinder(db) }),
    secretsOf: (signer: EndpointRow) => secretsOf(box, signer, clock.now()),
  }
  return async (endpoint) => {
    if (!opensSecrets(deps, endpoint)) return { kind: 'sealed' }
    try {
      // The limit on the tests of one store applies only to tests that the store requests.
      const { result } = await challengeEndpoint(
        { ...deps, challengePlaces: createChallengePlaces() },
        endpoint,
      )
      return result.kind === 'failed' ? result : { kind: 'answered', status: result.status }
    } catch (error) {
      return { kind: 'failed', reason: reasonOf(error) }
    }
  }
}

function opensSecrets({ secretsOf }: Pick<ChallengeDeps, 'secretsOf'>, endpoint: EndpointRow): boolean {
  try {
    secretsOf(endpoint)
    return true
  } catch {
    return false
  }
}
