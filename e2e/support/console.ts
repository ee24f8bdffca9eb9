import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { runCommand } from '../../gateway/testing/command.ts'
import { eventually } from './process.ts'
import { till } from './shared-till.ts'

/** Resolves to the link that opens the console of a sandbox, once `npm start` has printed it. */
export const readConsoleLink = (): Promise<string> =>
  eventually('the link of the console is printed', async () => {
    const printed = readFileSync(till.outputFile, 'utf8')
    return /http:\S+\/enter#sandbox=\S+/.exec(printed)?.[0]
  })

/** Enters the sandbox's console with the link that `npm start` printed. */
export async function enterSandbox(page: Page): Promise<void> {
  await page.goto(await readConsoleLink())
  await page.getByRole('button', { name: 'Enter the sandbox' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** Runs an operator's command on the shared till. Resolves to its output; rejects if it fails. */
export async function runOperatorCommand(...args: string[]): Promise<string> {
  const env = {
    TRADETILL_DATA: join(till.root, 'gateway'),
    TRADETILL_STEAM_SANDBOX_URL: till.sandbox,
    TRADETILL_CONSOLE_PORT: new URL(till.console).port,
  }
  const { code, out, errors } = await runCommand(args, { env })
  if (code !== 0) throw new Error(errors)
  return out
}

/** Gives the browser a virtual device that stores passkeys and verifies its user. */
export async function giveAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
}
