/** `enrol`: adds an account that the vault may give items from. The password is used once and not stored. */
import { EAuthTokenPlatformType, LoginSession } from 'steam-session'
import SteamTotp from 'steam-totp'
import { isSecret, type Secrets, saveAccount } from '../files/accounts.ts'
import { openFolder } from '../files/folder.ts'
import { openKey } from '../files/key.ts'
import type { Settings } from '../settings.ts'
import { type Caller, createCaller } from '../steam/call.ts'
import { findConfirmation } from '../steam/confirm.ts'
import { createPace } from '../steam/pace.ts'
import { createSession } from '../steam/session.ts'
import { Refusal, type Terminal } from '../terminal.ts'

const LOGIN_TIMEOUT_MS = 60_000

/**
 * `sells`: whether the accounts only sell. If it is absent, a known account stays what it is, and a new one collects
 * deposits.
 */
export type EnrolFlags = { sells?: boolean | undefined }

type Credentials = { accountName: string; password: string; sharedSecret: string; identitySecret: string }

/**
 * Asks a person, or reads one line per account from a pipe: name, password, shared and identity secret, tab-separated.
 */
export async function enrol(settings: Settings, terminal: Terminal, flags: EnrolFlags): Promise<void> {
  const caller = createCaller(settings.steamSandboxUrl)
  const given = terminal.isPerson
    ? [await askCredentials(terminal)]
    : (await terminal.lines()).map(parseCredentials)
  const credentials = given.map(tidy)
  if (credentials.length === 0) throw new Refusal('The input is empty: no account was enrolled.')
  for (const each of credentials) {
    const { steamId, secrets } = await logIn(caller, each)
    await testIdentitySecret(caller, steamId, secrets)
    const folder = openFolder(settings.folder)
    const { previousSells, sells } = saveAccount(folder, openKey(folder), { steamId, secrets, ...flags })
    const kind = sells ? 'only sells' : 'collects deposits'
    const before = sells ? 'collected deposits' : 'only sold'
    const change = previousSells === undefined || previousSells === sells ? '' : `; before, it ${before}`
    terminal.print(`${steamId} is enrolled as an account that ${kind}${change}. Restart the vault.`)
  }
}

async function askCredentials(terminal: Terminal): Promise<Credentials> {
  return {
    accountName: await terminal.ask('Account name'),
    password: await terminal.ask('Password', { hidden: true }),
    sharedSecret: await terminal.ask('Shared secret of its authenticator', { hidden: true }),
    identitySecret: await terminal.ask('Identity secret of its authenticator', { hidden: true }),
  }
}

function parseCredentials(line: string): Credentials {
  const [accountName, password, sharedSecret, identitySecret, ...rest] = line.split('\t')
  if (!accountName || !password || !sharedSecret || !identitySecret || rest.length > 0) {
    throw new Refusal(
      'Each line needs account name, password, shared secret and identity secret, separated by tabs.',
    )
  }
  return { accountName, password, sharedSecret, identitySecret }
}

/**
 * Removes spaces around a pasted name or secret. A password may begin or end with spaces. Throws before the login if a
 * secret has another form, such as that of a file that was exported in hex.
 */
function tidy({ password, ...pasted }: Credentials): Credentials {
  const accountName = pasted.accountName.trim()
  const [sharedSecret, identitySecret] = [pasted.sharedSecret.trim(), pasted.identitySecret.trim()]
  for (const [name, secret] of Object.entries({ shared: sharedSecret, identity: identitySecret })) {
    if (!isSecret(secret))
      throw new Refusal(
        `The ${name} secret must be 20 bytes in base64: 28 characters, of which the last is =. Nothing was enrolled.`,
      )
  }
  return { accountName, password, sharedSecret, identitySecret }
}

async function logIn(
  { agent }: Caller,
  credentials: Credentials,
): Promise<{ steamId: string; secrets: Secrets }> {
  const { password, ...stored } = credentials
  const session = new LoginSession(EAuthTokenPlatformType.MobileApp, { agent })
  session.loginTimeout = LOGIN_TIMEOUT_MS
  const loggedIn = new Promise<void>((resolve, reject) => {
    session.once('authenticated', resolve).once('error', reject)
    session.once('timeout', () => reject(new Error('Steam did not answer in time')))
  })
  // If the session fails before this promise is awaited, its rejection must not end the process.
  loggedIn.catch(() => {})
  try {
    const steamGuardCode = SteamTotp.generateAuthCode(stored.sharedSecret)
    await session.startWithCredentials({ accountName: stored.accountName, password, steamGuardCode })
    await loggedIn
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'unknown'
    throw new Refusal(`The login of ${stored.accountName} failed: ${reason}.`)
  } finally {
    session.cancelLoginAttempt()
  }
  return {
    steamId: session.steamID.getSteamID64(),
    secrets: { ...stored, refreshToken: session.refreshToken },
  }
}

/** Tests the identity secret. A wrong one would otherwise go unnoticed until the first gift. */
async function testIdentitySecret(caller: Caller, steamId: string, secrets: Secrets): Promise<void> {
  // Only one read follows, so nothing has to pause.
  const pace = createPace({ nowMs: () => performance.now(), pause: async () => {} })
  const session = createSession({ caller, pace }, { steamId, secrets })
  // No offer has the number 0: it only matters whether Steam answers.
  const answer = await findConfirmation(session, '0', Math.floor(Date.now() / 1_000))
  if (answer.kind === 'unanswered') {
    throw new Refusal(
      'Steam does not show the confirmations of the account: the identity secret is wrong, or Steam is busy.',
    )
  }
}
