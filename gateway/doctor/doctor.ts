/** Looks at everything that a till needs, in the order in which it is built, and goes on where something is broken. */
import { statfsSync } from 'node:fs'
import { pino } from 'pino'
import { openClock } from '../clock/service.ts'
import { type ConfigAnswer, readConfig } from '../config.ts'
import { type Database, openDatabase } from '../db/client.ts'
import { systemClock } from '../kit/clock.ts'
import { doctorProof } from '../kit/doctor-proof.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { ourVersion } from '../kit/version.ts'
import { listBots } from '../operations/bots.ts'
import { type Answer, done, type OwnConfig } from '../operations/operation.ts'
import { listFeeds } from '../pricing/feed-store.ts'
import { allowanceFinder } from '../webhooks/address-store.ts'
import { challenge } from '../webhooks/challenge.ts'
import { type EndpointRow, endpointsOf } from '../webhooks/endpoint-store.ts'
import { secretsOf } from '../webhooks/endpoints.ts'
import { createSender } from '../webhooks/sender.ts'
import { databaseFindings, ownerFindings } from './database.ts'
import { probeDatabase } from './database-store.ts'
import { type Finding, notChecked } from './finding.ts'
import { proxyFindings } from './proxy.ts'
import { probePublic } from './public-probe.ts'
import { machineFindings, settingsFindings } from './settings.ts'
import { botFindings, priceFindings, type StoreState, storeFindings, type WebhookAnswer } from './trade.ts'
import { acknowledgedBots, readCoverage, readNewestRates, readStores } from './trade-store.ts'

export type Examination = { findings: Finding[]; toMend: number; notChecked: number }

export type DoctorOptions = {
  env: Record<string, string | undefined> | undefined
  /** Sends a test to each webhook that is enabled. */
  sendsWebhooks: boolean
}

/** Never rejects because something is broken: that is what it is for. */
export async function examine(options: DoctorOptions): Promise<Answer<Examination>> {
  const settings = readConfig(options.env)
  const { bavail, bsize } = statfsSync('/')
  const machine = { node: process.versions.node, freeBytes: bavail * bsize, folder: '/' }
  const findings = [
    ...settingsFindings(settings),
    ...machineFindings(machine),
    ...(await rest(settings, options)),
  ]
  const count = (state: Finding['state']): number => findings.filter((each) => each.state === state).length
  const data = { findings, toMend: count('mend'), notChecked: count('not_checked') }
  if (data.toMend === 0) return done(data)
  return { kind: 'refused', refusal: 'failed', message: `${data.toMend} to mend.`, data }
}

const LATER = ['database', 'public', 'prices', 'bots', 'stores']

async function rest(settings: ConfigAnswer, options: DoctorOptions): Promise<Finding[]> {
  if (settings.kind === 'refused') {
    return LATER.map((check) => notChecked(check, 'the settings must be right first'))
  }
  const { config } = settings
  const { databaseUrl, ownerDatabaseUrl, masterKey } = config
  if (databaseUrl === undefined || masterKey === undefined) {
    return LATER.map((check) =>
      notChecked(check, 'there is no DATABASE_URL or no master key: npm start has its own'),
    )
  }
  const nowMs = () => systemClock.now().getTime()
  const [answer, owner] = await Promise.all([
    probeDatabase(databaseUrl, nowMs),
    ownerDatabaseUrl === undefined ? undefined : probeDatabase(ownerDatabaseUrl, nowMs),
  ])
  const ofDatabase = [...databaseFindings(answer, owner), ...ownerFindings(answer, config)]
  const proof = doctorProof(masterKey, systemClock.now())
  const ofProxy = proxyFindings(await probePublic(config.publicUrl, proof), {
    version: ourVersion(),
    nowMs: nowMs(),
  })
  const isOurs = ['database.identity', 'database.schema'].every((check) =>
    ofDatabase.some((each) => each.check === check && each.state === 'good'),
  )
  if (!isOurs) {
    const left = ['prices', 'bots', 'stores'].map((check) =>
      notChecked(check, 'the database must be right first'),
    )
    return [...ofDatabase, ...ofProxy, ...left]
  }
  const database = openDatabase(databaseUrl, 2, config.mode)
  try {
    return [...ofDatabase, ...ofProxy, ...(await examineTrade({ ...config, masterKey }, database, options))]
  } finally {
    await database.close()
  }
}

async function examineTrade(config: OwnConfig, { db }: Database, options: DoctorOptions): Promise<Finding[]> {
  const clock = await openClock(db, config.mode)
  const now = clock.now()
  const listed = await listBots({ config, db, clock })
  const acknowledged = await acknowledgedBots(db)
  const bots = listed.kind === 'refused' ? [] : listed.data.bots
  const prices = {
    feeds: await listFeeds(db),
    rates: await readNewestRates(db, now),
    coverage: await readCoverage(db, config.priceRules, now),
    now,
  }
  const ofBots = bots.map((bot) => ({ ...bot, noticeAcknowledged: acknowledged.has(bot.botId) }))
  return [
    ...priceFindings(prices),
    ...botFindings(ofBots, now),
    ...storeFindings(await readStoreStates(config, db, options)),
  ]
}

async function readStoreStates(
  config: OwnConfig,
  db: Database['db'],
  { sendsWebhooks }: DoctorOptions,
): Promise<StoreState[]> {
  const states: StoreState[] = []
  for (const { id, name } of await readStores(db)) {
    const endpoints: StoreState['endpoints'][number][] = []
    for (const row of await endpointsOf(db, id)) {
      const isTested = sendsWebhooks && row.state === 'enabled'
      const answer = isTested ? await test(config, db, row) : undefined
      endpoints.push({ endpointId: row.id, state: row.state, url: row.url, answer })
    }
    states.push({ storeId: id, name, endpoints })
  }
  return states
}

/** The same signed test that a store can ask for. It is no event. */
async function test(config: OwnConfig, db: Database['db'], endpoint: EndpointRow): Promise<WebhookAnswer> {
  const box = createSecretBox(config.masterKey, config.oldMasterKeys)
  const clock = { ...systemClock, machineNow: () => systemClock.now() }
  try {
    const { result } = await challenge(
      {
        clock,
        log: pino({ enabled: false }),
        send: createSender({ mode: config.webhookMode, findAllowance: allowanceFinder(db) }),
        secretsOf: (signer) => secretsOf(box, signer, clock.now()),
        testsUnderWay: new Map(),
      },
      endpoint,
    )
    return result.kind === 'failed' ? result : { kind: 'answered', status: result.status }
  } catch (error) {
    return { kind: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}
