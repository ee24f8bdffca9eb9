import {
  type Config,
  type ConfigAnswer,
  DEFAULT_STEAM_SANDBOX_URL,
  readConfig,
  refusalOf,
} from '../config.ts'
import { type EmbeddedAddresses, runningDatabase } from '../db/connection-file.ts'
import { Refusal } from './terminal.ts'

/**
 * Reads the settings and the URL of the database: DATABASE_URL, or the embedded database of the gateway running on the
 * data folder. Throws a Refusal if there is neither, or if the settings are wrong.
 */
export function settingsWithDatabase(env: Record<string, string | undefined> | undefined): {
  config: Config
  url: string
} {
  const { config, url } = settingsOf(env)
  if (url === undefined) {
    const advice = 'Start it first, or set DATABASE_URL.'
    throw new Refusal('unreachable', `No gateway is running on ${config.dataDir}. ${advice}`)
  }
  return { config, url }
}

/** Like `settingsWithDatabase`, but `url` is undefined if there is no database. */
export function settingsOf(env: Record<string, string | undefined> | undefined): {
  config: Config
  url: string | undefined
} {
  const answer = readConfig(env)
  if (answer.kind === 'refused') throw new Refusal('usage', refusalOf(answer.problems))
  const { config } = answer
  if (config.databaseUrl !== undefined) return { config, url: config.databaseUrl }
  const running = runningDatabase(config.dataDir)
  return { config: withAddressesOf(running, config), url: running?.url }
}

/**
 * Like `settingsOf`, but returns the problems of wrong settings instead of throwing, because the doctor reports them.
 */
export function settingsToExamine(env: Record<string, string | undefined> | undefined): ConfigAnswer {
  const answer = readConfig(env)
  if (answer.kind === 'refused' || answer.config.databaseUrl !== undefined) return answer
  const running = runningDatabase(answer.config.dataDir)
  const config = withAddressesOf(running, answer.config)
  return {
    kind: 'config',
    config: { ...config, databaseUrl: running?.url, ownerDatabaseUrl: running?.ownerUrl },
  }
}

/**
 * Uses the running gateway's addresses. If the gateway has other ports, another till's sandbox may answer at the
 * default URL. A setting for another sandbox or a console takes precedence.
 */
function withAddressesOf(running: EmbeddedAddresses | undefined, config: Config): Config {
  if (running === undefined) return config
  const { steamSandboxUrl, publicUrl, console: runningConsole } = running
  const isDefault = config.steamSandboxUrl === DEFAULT_STEAM_SANDBOX_URL
  return {
    ...config,
    steamSandboxUrl: isDefault ? (steamSandboxUrl ?? config.steamSandboxUrl) : config.steamSandboxUrl,
    publicUrl: publicUrl === undefined ? config.publicUrl : new URL(publicUrl),
    console:
      config.console ??
      (runningConsole && { ...runningConsole, url: new URL(runningConsole.url), sandboxKey: undefined }),
  }
}
