/**
 * Checks what the schema of the settings does not: keys and their files, settings that contradict each other or the
 * mode, and those that would expose a sandbox to other machines.
 */
import { isIP } from 'node:net'
import { unsafeDatabase } from '../contract/database-address.ts'
import { isLoopback, isLoopbackName } from '../contract/loopback.ts'
import type { TrustedProxies } from './kit/trusted-proxies.ts'
import { parseKey, readKeyFile, readOldKeysFile } from './master-key.ts'
import type { PerGame } from './pricing/per-game.ts'

export type Environment = {
  TRADETILL_MODE: 'sandbox' | 'live'
  TRADETILL_HOST: string
  TRADETILL_PUBLIC_URL?: string | undefined
  TRADETILL_CONSOLE_PORT?: number | undefined
  TRADETILL_CONSOLE_HOST: string
  TRADETILL_CONSOLE_URL?: string | undefined
  TRADETILL_CONSOLE_SANDBOX_KEY?: string | undefined
  TRADETILL_PUBLIC_SANDBOX: boolean
  TRADETILL_TRUSTED_PROXIES?: TrustedProxies | undefined
  DATABASE_URL?: string | undefined
  TRADETILL_OWNER_DATABASE_URL?: string | undefined
  TRADETILL_PLAIN_DATABASE: boolean
  TRADETILL_MASTER_KEY?: string | undefined
  TRADETILL_MASTER_KEY_FILE?: string | undefined
  TRADETILL_OLD_MASTER_KEYS_FILE?: string | undefined
  TRADETILL_STEAM_SANDBOX_URL?: string | undefined
  TRADETILL_PROTECTION_DAYS?: PerGame | undefined
  TRADETILL_ROLES?: ReadonlySet<string> | undefined
  TRADETILL_ALERT_URL?: string | undefined
  TRADETILL_ALERT_SECRET?: string | undefined
  NODE_DEBUG?: string | undefined
  NODE_TLS_REJECT_UNAUTHORIZED?: string | undefined
}

type Problems = [name: keyof Environment, message: string][]

/** How long Steam protects a trade of Counter-Strike 2. */
const LEAST_CS_DAYS = 7

export function problemsOf(environment: Environment): Problems {
  const ofMode =
    environment.TRADETILL_MODE === 'live' ? problemsOfLive(environment) : problemsOfSandbox(environment)
  return [
    ...problemsOfKey(environment),
    ...problemsOfOldKeys(environment),
    ...problemsOfProxies(environment),
    ...problemsOfRoles(environment),
    ...problemsOfAlerts(environment),
    ...problemsOfConsole(environment),
    ...ofMode,
  ]
}

function problemsOfRoles({ TRADETILL_ROLES: roles, DATABASE_URL: url }: Environment): Problems {
  if (roles === undefined || url !== undefined) return []
  return [['TRADETILL_ROLES', 'needs a DATABASE_URL: no other process can use the database of npm start']]
}

function problemsOfAlerts({
  TRADETILL_ALERT_URL: url,
  TRADETILL_ALERT_SECRET: secret,
}: Environment): Problems {
  if ((url === undefined) === (secret === undefined)) return []
  return url === undefined
    ? [
        [
          'TRADETILL_ALERT_URL',
          'must be set too: with TRADETILL_ALERT_SECRET alone, the till sends no alerts',
        ],
      ]
    : [['TRADETILL_ALERT_SECRET', 'must be set too: it signs the alerts to TRADETILL_ALERT_URL']]
}

/**
 * A console needs its own host name: browsers send a host's cookies to all of its ports, and passkeys belong to a name.
 */
function problemsOfConsole(environment: Environment): Problems {
  const { TRADETILL_MODE: mode, TRADETILL_CONSOLE_URL: text, TRADETILL_CONSOLE_HOST: host } = environment
  const url = text === undefined ? undefined : (URL.parse(text) ?? undefined)
  const problems: Problems = []
  if (environment.TRADETILL_CONSOLE_PORT === undefined && text !== undefined) {
    problems.push([
      'TRADETILL_CONSOLE_PORT',
      'must be set too, such as to 4304, because TRADETILL_CONSOLE_URL is set',
    ])
  }
  if (url !== undefined && isAddress(url.hostname)) {
    problems.push(['TRADETILL_CONSOLE_URL', 'must have the name of a host: passkeys belong to a name'])
  }
  return [
    ...problems,
    ...(mode === 'live'
      ? problemsOfLiveConsole(environment, url)
      : problemsOfSandboxConsole(environment, { url, host })),
  ]
}

const isAddress = (hostname: string): boolean => isIP(hostname.replace(/^\[|\]$/g, '')) !== 0

function problemsOfLiveConsole(environment: Environment, url: URL | undefined): Problems {
  const problems: Problems = []
  if (environment.TRADETILL_CONSOLE_SANDBOX_KEY !== undefined) {
    problems.push(['TRADETILL_CONSOLE_SANDBOX_KEY', 'must not be set in live mode: operators have passkeys'])
  }
  if (environment.TRADETILL_CONSOLE_PORT === undefined) return problems
  if (url?.protocol !== 'https:') {
    const address = 'the https address at which operators reach the console'
    problems.push(['TRADETILL_CONSOLE_URL', `must be set in live mode to ${address}`])
  } else if (url.hostname === URL.parse(environment.TRADETILL_PUBLIC_URL ?? '')?.hostname) {
    const why = 'browsers give the cookies of a host to all of its ports'
    problems.push([
      'TRADETILL_CONSOLE_URL',
      `must have a different host name from TRADETILL_PUBLIC_URL: ${why}`,
    ])
  }
  return problems
}

function problemsOfSandboxConsole(
  { TRADETILL_PUBLIC_SANDBOX: isPublic, TRADETILL_CONSOLE_SANDBOX_KEY: key }: Environment,
  { url, host }: { url: URL | undefined; host: string },
): Problems {
  const problems: Problems = []
  const isElsewhere = !isLoopbackName(host) || (url !== undefined && !isLoopbackName(url.hostname))
  if (isElsewhere && key !== undefined) {
    const why = 'it signs in without a passkey'
    problems.push([
      'TRADETILL_CONSOLE_SANDBOX_KEY',
      `must not be set while other machines can reach the console: ${why}`,
    ])
  } else if (isElsewhere && !isPublic) {
    problems.push([
      isLoopbackName(host) ? 'TRADETILL_CONSOLE_URL' : 'TRADETILL_CONSOLE_HOST',
      'leads off this machine, and a sandbox stays on it: see TRADETILL_PUBLIC_SANDBOX',
    ])
  }
  return problems
}

function problemsOfLive(environment: Environment): Problems {
  const problems: Problems = []
  if (environment.TRADETILL_STEAM_SANDBOX_URL !== undefined) {
    problems.push(['TRADETILL_STEAM_SANDBOX_URL', 'must not be set in live mode: the sandbox invents items'])
  }
  if (environment.TRADETILL_PUBLIC_SANDBOX) {
    problems.push(['TRADETILL_PUBLIC_SANDBOX', 'must not be set in live mode: unset it'])
  }
  if (environment.DATABASE_URL === undefined) {
    problems.push(['DATABASE_URL', 'is needed in live mode: the address of a PostgreSQL that is backed up'])
  }
  if (environment.TRADETILL_MASTER_KEY === undefined && environment.TRADETILL_MASTER_KEY_FILE === undefined) {
    problems.push([
      'TRADETILL_MASTER_KEY',
      'or TRADETILL_MASTER_KEY_FILE is needed in live mode: it seals the secrets',
    ])
  }
  if ((environment.TRADETILL_PROTECTION_DAYS?.cs ?? LEAST_CS_DAYS) < LEAST_CS_DAYS) {
    const why = 'the sender of Counter-Strike 2 items can take them back for that long'
    problems.push([
      'TRADETILL_PROTECTION_DAYS',
      `must be at least ${LEAST_CS_DAYS} for cs in live mode: ${why}`,
    ])
  }
  const publicUrl = environment.TRADETILL_PUBLIC_URL
  if (publicUrl === undefined || URL.parse(publicUrl)?.protocol !== 'https:') {
    problems.push([
      'TRADETILL_PUBLIC_URL',
      'must be set in live mode to the https address at which shoppers reach the page',
    ])
  }
  return [
    ...problems,
    ...problemsOfDatabases(environment),
    ...problemsOfLiveProxies(environment),
    ...problemsOfNode(environment),
  ]
}

/**
 * A connection to the database must verify the server, because keys of stores, sealed tokens and credit pass over it.
 */
function problemsOfDatabases(environment: Environment): Problems {
  return (['DATABASE_URL', 'TRADETILL_OWNER_DATABASE_URL'] as const).flatMap((name) =>
    problemsOfDatabase(environment, name),
  )
}

function problemsOfDatabase(
  { TRADETILL_PLAIN_DATABASE: plain, ...environment }: Environment,
  name: 'DATABASE_URL' | 'TRADETILL_OWNER_DATABASE_URL',
): Problems {
  const url = environment[name]
  if (url === undefined || plain || !URL.canParse(url)) return []
  const problem = unsafeDatabase(url)
  return problem === undefined ? [] : [[name, problem]]
}

/**
 * The operator must list the proxies: all callers behind an unlisted proxy would share one address, and so its limits.
 */
function problemsOfLiveProxies({
  TRADETILL_TRUSTED_PROXIES: proxies,
  TRADETILL_HOST: host,
}: Environment): Problems {
  if (proxies === undefined) {
    const advice =
      'the addresses of the proxies in front, such as 127.0.0.1, or none if callers connect directly'
    return [['TRADETILL_TRUSTED_PROXIES', `is needed in live mode: ${advice}`]]
  }
  if (proxies.kind !== 'none' || isLoopbackName(host)) return []
  const advice =
    'listen on 127.0.0.1 behind the server that terminates TLS, or name the proxies in TRADETILL_TRUSTED_PROXIES'
  return [['TRADETILL_HOST', `is ${host}, where callers without a proxy would speak plain http: ${advice}`]]
}

function problemsOfNode({ NODE_DEBUG, NODE_TLS_REJECT_UNAUTHORIZED }: Environment): Problems {
  const problems: Problems = []
  if (NODE_DEBUG !== undefined) {
    problems.push([
      'NODE_DEBUG',
      'must not be set in live mode: it prints requests with their keys. Unset it',
    ])
  }
  if (NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const why = 'anybody on the network could pose as Steam or the database. Unset it'
    problems.push(['NODE_TLS_REJECT_UNAUTHORIZED', `must not be 0 in live mode: ${why}`])
  }
  return problems
}

function problemsOfSandbox(environment: Environment): Problems {
  const problems: Problems = []
  const sandbox = environment.TRADETILL_STEAM_SANDBOX_URL
  const sandboxUrl = sandbox === undefined ? null : URL.parse(sandbox)
  if (sandboxUrl !== null && !isLoopback(sandboxUrl)) {
    problems.push(['TRADETILL_STEAM_SANDBOX_URL', 'must be on this machine, such as http://127.0.0.1:4301'])
  }
  if (environment.TRADETILL_PUBLIC_SANDBOX) return problems
  const advice = 'set TRADETILL_MODE=live, or TRADETILL_PUBLIC_SANDBOX=1 for a sandbox that others may reach'
  const { TRADETILL_HOST: host, TRADETILL_PUBLIC_URL: publicUrl } = environment
  if (!isLoopbackName(host)) {
    problems.push(['TRADETILL_HOST', `is ${host}, and a sandbox stays on this machine: ${advice}`])
  }
  const url = publicUrl === undefined ? null : URL.parse(publicUrl)
  if (url !== null && !isLoopbackName(url.hostname)) {
    problems.push([
      'TRADETILL_PUBLIC_URL',
      `is ${url.origin}, and a sandbox stays on this machine: ${advice}`,
    ])
  }
  return problems
}

function problemsOfProxies({ TRADETILL_TRUSTED_PROXIES: proxies }: Environment): Problems {
  return proxies?.kind === 'refused' ? [['TRADETILL_TRUSTED_PROXIES', proxies.reason]] : []
}

function problemsOfKey({
  TRADETILL_MASTER_KEY: text,
  TRADETILL_MASTER_KEY_FILE: file,
}: Environment): Problems {
  if (text !== undefined) {
    const answer = parseKey(text)
    return answer.kind === 'key' ? [] : [['TRADETILL_MASTER_KEY', answer.reason]]
  }
  if (file === undefined) return []
  const answer = readKeyFile(file)
  return answer.kind === 'key' ? [] : [['TRADETILL_MASTER_KEY_FILE', answer.reason]]
}

function problemsOfOldKeys({ TRADETILL_OLD_MASTER_KEYS_FILE: file }: Environment): Problems {
  if (file === undefined) return []
  const answer = readOldKeysFile(file)
  return answer.kind === 'keys' ? [] : [['TRADETILL_OLD_MASTER_KEYS_FILE', answer.reason]]
}
