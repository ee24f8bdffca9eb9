import { addressIn } from '../../contract/languages.ts'
import { pageCookies, renewToken, sendToStore } from '../embed.ts'
import { createApi } from '../flow/api.ts'
import type { World } from '../flow/calls.ts'
import type { ToastText } from '../flow/events.ts'
import { type RunningFlow, SLEPT_MS, startFlow } from '../flow/runner.ts'
import type { FlowState } from '../flow/state.ts'
import { restTexts } from '../i18n/rest.ts'
import { textsIn } from '../i18n/texts.ts'
import { stand } from '../parts/parts.ts'
import {
  forgetOffer,
  forgetPicks,
  storeChosenLanguage,
  storeLanguage,
  storeLink,
  storeOffer,
  storeOpenPicks,
  storePicks,
} from '../storage.ts'
import type { NewToast, ToastStore } from '../toasts/store.ts'
import { wait } from '../wait.ts'

/** Continues the flow from `opened` until it is stopped. */
export function runFlow(opened: FlowState, toasts: ToastStore): RunningFlow {
  const flow = startFlow(
    opened,
    browserWorld(toasts, opened, () => flow.state()),
  )
  const stopListening = listenForReturn(flow)
  return {
    ...flow,
    stop() {
      stopListening()
      flow.stop()
    },
  }
}

function browserWorld(toasts: ToastStore, { hash }: FlowState, state: () => FlowState): World {
  const toastIds = new Map<ToastText['text'], string>()
  return {
    api: createApi(fetch.bind(globalThis), pageCookies, renewToken),
    now: () => performance.now(),
    wait,
    proposer() {
      const part = stand.current()
      return part.kind === 'ready' ? part.code.propose : null
    },
    perform(effect) {
      switch (effect.kind) {
        case 'toast':
          toastIds.set(effect.toast.text, toasts.add(toastOf(effect.toast, state().language)))
          return
        case 'removeToast':
          toasts.remove(toastIds.get(effect.text) ?? '')
          return
        case 'storeLink':
          storeLink(effect.link)
          return
        case 'storeLanguage':
          storeLanguage(effect.language)
          storeChosenLanguage(hash, effect.language)
          return
        case 'storeOffer':
          storeOffer(effect.hash)
          return
        case 'forgetOffer':
          forgetOffer(effect.hash)
          return
        case 'storePicks':
          storePicks(effect.picks)
          return
        case 'forgetPicks':
          forgetPicks()
          return
        case 'storeOpenPicks':
          storeOpenPicks(hash, effect.picks)
          return
        case 'redirect':
          if (/^https?:\/\//i.test(effect.url))
            setTimeout(() => redirectTo(effect.url, state()), effect.afterMs)
          return
        default:
          effect satisfies never
      }
    },
  }
}

/**
 * Replaces this page in the history: otherwise Back from the store would redirect again. In a frame, the store's page
 * redirects.
 */
function redirectTo(url: string, { payment, language }: FlowState): void {
  const redirectUrl = addressIn(url, language)
  const depositId = payment?.id ?? ''
  const isSent = sendToStore({ type: 'done', detail: { depositId, status: 'succeeded', redirectUrl } })
  if (!isSent) location.replace(redirectUrl)
}

function toastOf(toast: ToastText, language: FlowState['language']): NewToast {
  const texts = textsIn(restTexts, language)
  switch (toast.text) {
    case 'depositFailed':
      return { type: 'error', title: toast.detail ?? texts.failedToReceiveDeposit }
    case 'tooManyItems':
      return { type: 'warning', title: texts.tooManyItems }
    case 'connectionBack':
      return { type: 'success', title: texts.online }
    default:
      return toast satisfies never
  }
}

const TICK_MS = 1000

/** Refreshes the deposit as soon as the shopper comes back to the page. */
function listenForReturn(flow: RunningFlow): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let lastTickMs = Date.now()
  const returned = () => {
    lastTickMs = Date.now()
    flow.returned()
  }
  const connected = () => {
    flow.dispatch({ kind: 'connectionChanged', isOnline: true })
    returned()
  }
  document.addEventListener('visibilitychange', () => !document.hidden && returned(), { signal })
  document.addEventListener('resume', returned, { signal })
  // Only a restored page has been away; one shown for the first time has not.
  window.addEventListener('pageshow', ({ persisted }) => persisted && returned(), { signal })
  window.addEventListener('online', connected, { signal })
  // A machine that slept fires no event: only the missing ticks show it.
  const ticks = setInterval(() => {
    if (Date.now() - lastTickMs > SLEPT_MS && !document.hidden) returned()
    lastTickMs = Date.now()
  }, TICK_MS)
  window.addEventListener('offline', () => flow.dispatch({ kind: 'connectionChanged', isOnline: false }), {
    signal,
  })
  return () => {
    controller.abort()
    clearInterval(ticks)
  }
}
