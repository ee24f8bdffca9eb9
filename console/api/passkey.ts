import { call, keepSession, type Reply } from './call.ts'

const REFUSED = { kind: 'passkey', message: 'The passkey prompt was cancelled or failed. Try again.' }

async function credentialJson(request: Promise<Credential | null>) {
  const credential = await request.catch(() => null)
  return credential instanceof PublicKeyCredential ? credential.toJSON() : undefined
}

/** Asks the server for a challenge, and answers it with a passkey. */
async function answerChallenge(path: string): Promise<Reply<{ session?: string }>> {
  const challenge = await call<{ options: PublicKeyCredentialRequestOptionsJSON }>(`${path}/begin`)
  if (!challenge.ok) return challenge
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(challenge.data.options)
  const assertion = await credentialJson(navigator.credentials.get({ publicKey }))
  if (assertion === undefined) return { ok: false, failure: REFUSED }
  return call(`${path}/finish`, { assertion })
}

export async function signIn(): Promise<Reply<unknown>> {
  return keepSessionOf(await answerChallenge('sign-in'))
}

/** The kinds of failure after which the server may have carried out the act, although the page got no answer. */
const LOST_ANSWERS = ['offline', 'unreachable']
const UNANSWERED = {
  kind: 'unanswered',
  message: 'The answer was lost, so the act may have been carried out. Check before you repeat it.',
}

async function callAct<T>(path: string, body: object): Promise<Reply<T>> {
  const reply = await call<T>(path, body)
  const isLost = !reply.ok && LOST_ANSWERS.includes(reply.failure.kind)
  return isLost ? { ok: false, failure: UNANSWERED } : reply
}

/** Calls an act. If the server asks for a fresh passkey check, runs the check, and repeats the call after a success. */
export async function callFresh<T>(path: string, body: object): Promise<Reply<T>> {
  const reply = await callAct<T>(path, body)
  if (reply.ok || reply.failure.kind !== 'step_up') return reply
  const check = await answerChallenge('step-up')
  return check.ok ? callAct<T>(path, body) : check
}

export type Invitation = {
  name: string
  role: string
  options: PublicKeyCredentialCreationOptionsJSON
}

/** Reads the invitation behind an operator's link, without using the link up. */
export const readLink = (link: string): Promise<Reply<Invitation>> => call('link/begin', { link })

/** Registers a passkey, which uses up the link and signs in. */
export async function register(link: string, { options }: Invitation): Promise<Reply<unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const registration = await credentialJson(navigator.credentials.create({ publicKey }))
  if (registration === undefined) return { ok: false, failure: REFUSED }
  return keepSessionOf(await call('link/finish', { link, registration }))
}

/** Signs in with the link that `npm start` prints. */
export async function enterSandbox(key: string): Promise<Reply<unknown>> {
  return keepSessionOf(await call('sandbox', { key }))
}

function keepSessionOf(reply: Reply<{ session?: string }>): Reply<unknown> {
  if (reply.ok && reply.data.session !== undefined) keepSession(reply.data.session)
  return reply
}
