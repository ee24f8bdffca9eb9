/** Checks what a till needs, in the order in which it is set up. */
import { existsSync, statfsSync } from 'node:fs'
import { readNeeds } from '../alerts/needs-store.ts'
import { alertSender } from '../alerts/service.ts'
import { countProcessesWithOtherKeys } from '../bots/process-store.ts'
import { openClock } from '../clock/service.ts'
import type { Config, ConfigAnswer } from '../config.ts'
import { ourBuild } from '../db/build.ts'
import { type Database, openPool } from '../db/client.ts'
import { createConnectionGroup } from '../db/connections.ts'
import { leadToOneDatabase } from '../db/roles.ts'
import { breakOf } from '../epochs/epoch.ts'
import { isDisarmed, readHistory } from '../epochs/store.ts'
import { systemClock } from '../kit/clock.ts'
import { doctorProof } from '../kit/doctor-proof.ts'
import { reasonOf } from '../kit/reason.ts'
import { fingerprintOf } from '../kit/secret-box.ts'
import { listBots } from '../operations/bots.ts'
import { type Answer, type ConfigWithKey, done, type FindDeps } from '../operations/operation.ts'
import { selectOperators } from '../operators/store.ts'
import { listFeeds } from '../pricing/feed-store.ts'
import { askSteamTime } from '../steam/steam-time.ts'
import { alertFindings, testAlert } from './alerts.ts'
import { consoleFindings, operatorFindings } from './console.ts'
import { probeConsole } from './console-probe.ts'
import { databaseFindings, identityFindings } from './database.ts'
import { probeDatabase } from './database-store.ts'
import { type Finding, notChecked } from './finding.ts'
import { proxyFindings } from './proxy.ts'
import { probePublic } from './public-probe.ts'
import { botFindings, commissionFindings, priceFindings, storeFindings } from './readiness.ts'
import { acknowledgedBots, readCoverage, readNewestRates, readStores } from './readiness-store.ts'
import { machineFindings, settingsFindings } from './settings.ts'
import { steamClockFindings } from './steam-clock.ts'
import { readStoreStates } from './store-states.ts'
import { alarmFindings, epochFindings, keyFindings, pauseFindings, vaultFindings } from './till-state.ts'
import { awaitVault, readPauses } from './till-state-store.ts'

export type Examination = { findings: Finding[]; toMend: number; notChecked: number }

export type DoctorOptions = {
  settings: ConfigAnswer
  /** Whether to send a test to each enabled webhook, and to the receiver of alerts. */
  sendsWebhooks: boolean
}

const nowMs = (): number => systemClock.now().getTime()

/** Runs all checks, even after a failed one. */
export async function examine(options: DoctorOptions): Promise<Answer<Examination>> {
  const { settings } = options
  const dataDir = settings.kind === 'config' ? settings.config.dataDir : '/'
  const folder = existsSync(dataDir) ? dataDir : '/'
  const { bavail, bsize } = statfsSync(folder)
  const machine = { node: process.versions.node, freeBytes: bavail * bsize, folder }
  const findings = [
    ...settingsFindings(settings),
    ...machineFindings(machine),
    ...(await examineAfterSettings(options)),
  ]
  const count = (state: Finding['state']): number => findings.filter((each) => each.state === state).length
  const data = { findings, toMend: count('mend'), notChecked: count('not_checked') }
  if (data.toMend === 0) return done(data)
  return { kind: 'refused', refusal: 'failed', message: `${data.toMend} to fix.`, data }
}

/** The parts that are listed as not checked if the database is out of reach, not this till's, or lacks migrations. */
const tillChecksOf = ({ console: consoleConfig }: Pick<Config, 'console'>): string[] => [
  'epoch',
  'gateways',
  ...(consoleConfig === undefined ? [] : ['console.operators']),
  ...['prices', 'bots', 'maintenance', 'alarms', 'vault', 'stores'],
]
/** The parts that need valid settings, with a database and a master key. `console` includes its operators. */
const CHECKS_AFTER_SETTINGS = [
  ...['database', 'public', 'console'],
  ...tillChecksOf({ console: undefined }),
  'alerts',
]

async function examineAfterSettings(options: DoctorOptions): Promise<Finding[]> {
  const { settings } = options
  if (settings.kind === 'refused') {
    return CHECKS_AFTER_SETTINGS.map((check) => notChecked(check, 'fix the settings first'))
  }
  const { config } = settings
  const { databaseUrl, masterKey } = config
  if (databaseUrl === undefined || masterKey === undefined) {
    return CHECKS_AFTER_SETTINGS.map((check) =>
      notChecked(
        check,
        'there is no DATABASE_URL or no master key, and no gateway is running on the data folder',
      ),
    )
  }
  const ofDatabase = await attempt('database', () => examineDatabase(config, databaseUrl))
  const [ofClock, ofProxy, ofConsole, ofAlerts] = await Promise.all([
    // A sandbox calls no outside host.
    config.mode === 'live'
      ? attempt('clock.steam', async () => steamClockFindings(await askSteamTime(nowMs)))
      : [],
    attempt('public', () => examinePublic(config, masterKey)),
    attempt('console', () => examineConsole(config)),
    attempt('alerts', () => examineAlerts(config, options)),
  ])
  const isOurs = ['database.identity', 'database.schema'].every((check) =>
    ofDatabase.some((each) => each.check === check && each.state === 'good'),
  )
  const ofTill = isOurs
    ? await examineTill({ ...config, masterKey, databaseUrl }, options)
    : tillChecksOf(config).map((check) => notChecked(check, 'fix the database first'))
  return [...ofDatabase, ...ofClock, ...ofProxy, ...ofConsole, ...ofTill, ...ofAlerts]
}

/** Runs one part. Turns its failure into a line of the report. */
async function attempt(check: string, work: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await work()
  } catch (error) {
    return [notChecked(check, `the check failed: ${reasonOf(error)}`)]
  }
}

async function examineDatabase(config: Config, databaseUrl: string): Promise<Finding[]> {
  const { ownerDatabaseUrl } = config
  const [answer, owner] = await Promise.all([
    probeDatabase(databaseUrl, nowMs),
    ownerDatabaseUrl === undefined ? undefined : probeDatabase(ownerDatabaseUrl, nowMs),
  ])
  const areApart =
    ownerDatabaseUrl !== undefined &&
    answer.kind === 'answered' &&
    owner?.kind === 'answered' &&
    // A connection that fails now says nothing about the addresses.
    !(await leadToOneDatabase(ownerDatabaseUrl, databaseUrl).catch(() => true))
  return [...databaseFindings(answer, owner, areApart), ...identityFindings(answer, config)]
}

async function examinePublic({ publicUrl }: Config, masterKey: Buffer): Promise<Finding[]> {
  const answer = await probePublic(publicUrl, doctorProof(masterKey, systemClock.now()))
  return proxyFindings(answer, { build: ourBuild(), nowMs: nowMs(), publicUrl })
}

async function examineConsole({ console: consoleConfig, mode, publicUrl }: Config): Promise<Finding[]> {
  const probe = consoleConfig === undefined ? undefined : await probeConsole(consoleConfig)
  return consoleFindings(probe, { mode, publicUrl, nowMs: nowMs() })
}

async function examineAlerts(config: Config, { sendsWebhooks }: DoctorOptions): Promise<Finding[]> {
  const { alerts, mode } = config
  const isSent = alerts !== null && sendsWebhooks
  const answer = isSent
    ? await testAlert(alerts, { ...config, send: alertSender(mode), clock: systemClock })
    : undefined
  return alertFindings(alerts?.url, answer)
}

type TillConfig = ConfigWithKey & { databaseUrl: string }

async function examineTill(config: TillConfig, options: DoctorOptions): Promise<Finding[]> {
  const connections = createConnectionGroup()
  const database = openPool({ url: config.databaseUrl, size: 2, mode: config.mode, connections })
  try {
    return await examineParts(config, database, options)
  } finally {
    // Cut rather than closed, because a vanished database would not answer.
    connections.cut('all')
    await database.close()
  }
}

async function examineParts(
  config: ConfigWithKey,
  { db }: Database,
  options: DoctorOptions,
): Promise<Finding[]> {
  const withClock = async (look: (deps: FindDeps) => Promise<Finding[]>) =>
    look({ config, db, clock: await openClock(db, config.mode) })
  const parts: [check: string, look: () => Promise<Finding[]>][] = [
    ['epoch', () => examineEpoch(db)],
    [
      'gateways',
      async () => keyFindings(await countProcessesWithOtherKeys(db, fingerprintOf(config.masterKey))),
    ],
    ...(config.console === undefined ? [] : [operatorsPart(db)]),
    ['prices', () => withClock(examinePrices)],
    ['bots', () => withClock(examineBots)],
    ['maintenance', () => withClock(async ({ clock }) => pauseFindings(await readPauses(db), clock.now()))],
    ['alarms', async () => alarmFindings(await readNeeds(db))],
    ['vault', async () => vaultFindings(await awaitVault(db))],
    [
      'stores',
      async () => [
        ...commissionFindings(await readStores(db), config),
        ...storeFindings(
          await readStoreStates({ config, db, clock: systemClock, sendsWebhooks: options.sendsWebhooks }),
        ),
      ],
    ],
  ]
  // All parts run at the same time, so they share the wait for a silent database.
  return (await Promise.all(parts.map(([check, look]) => attempt(check, look)))).flat()
}

const operatorsPart = (db: Database['db']): [check: string, look: () => Promise<Finding[]>] => [
  'console.operators',
  async () => operatorFindings(await selectOperators(db, systemClock.now())),
]

async function examineEpoch(db: Database['db']): Promise<Finding[]> {
  const history = await readHistory(db)
  // The doctor remembers no earlier state.
  const breakKind = breakOf(history, undefined)
  return epochFindings({ epoch: history.epoch?.number, breakKind, isDisarmed: await isDisarmed(db) })
}

async function examinePrices({ config, db, clock }: FindDeps): Promise<Finding[]> {
  const now = clock.now()
  return priceFindings({
    feeds: await listFeeds(db),
    rates: await readNewestRates(db, now),
    coverage: await readCoverage(db, config.priceRules, now),
    now,
  })
}

async function examineBots(deps: FindDeps): Promise<Finding[]> {
  const [listed, acknowledged] = [await listBots(deps), await acknowledgedBots(deps.db)]
  if (listed.kind === 'refused') return [notChecked('bots', listed.message)]
  const bots = listed.data.bots.map((bot) => ({ ...bot, noticeAcknowledged: acknowledged.has(bot.botId) }))
  return botFindings(bots, deps.clock.now())
}
