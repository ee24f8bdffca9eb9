import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { pageCookies, renewToken, tellStore } from '../embed.ts'
import { createApi } from '../flow/api.ts'
import type { World } from '../flow/calls.ts'
import type { ToastText } from '../flow/events.ts'
import { type Flow, SLEPT_MS, startFlow } from '../flow/runner.ts'
import { type FlowState, initialState } from '../flow/state.ts'
import { wait } from '../flow/wait.ts'
import { loadMessages, messagesIn } from '../i18n/messages.ts'
import {
  chosenLanguage,
  storeChosenLanguage,
  storedLanguage,
  storedLink,
  storeLanguage,
  storeLink,
} from '../storage.ts'
import type { NewToast, ToastStore } from '../toasts/store.ts'
import { givenPayment } from './given.ts'
import { currentProposer } from './parts.ts'

/** Runs the flow of one deposit while the screen is mounted. */
export function useFlow(hash: string, toasts: ToastStore): { state: FlowState; flow: Flow } | null {
  const [flow, setFlow] = useState<Flow | null>(null)
  const current = useRef<Flow | null>(null)

  useEffect(() => {
    const world = browserWorld(toasts, {
      hash,
      language: () => current.current?.state().language ?? 'en',
      depositId: () => current.current?.state().payment?.id ?? '',
    })
    const stored = {
      language: storedLanguage(),
      link: storedLink(),
      chosenLanguage: chosenLanguage(hash),
    }
    const given = givenPayment(hash)
    const first = given && ({ kind: 'paymentGiven', ...given } as const)
    const started = startFlow(initialState(hash, stored), world, first)
    current.current = started
    setFlow(started)
    const stopListening = listenForReturn(started)
    return () => {
      stopListening()
      started.stop()
    }
  }, [hash, toasts])

  const state = useSyncExternalStore(flow?.subscribe ?? NEVER, () => flow?.state() ?? null)
  return flow === null || state === null ? null : { state, flow }
}

const NEVER = () => () => {}

type OfDeposit = { hash: string; language: () => FlowState['language']; depositId: () => string }

function browserWorld(toasts: ToastStore, { hash, language, depositId }: OfDeposit): World {
  return {
    api: createApi(fetch.bind(globalThis), pageCookies, renewToken),
    now: () => performance.now(),
    wait,
    proposer: currentProposer,
    perform(effect) {
      switch (effect.kind) {
        case 'toast':
          // The page may have opened on a failure before the texts of its language were here.
          void loadMessages(language()).then(() => toasts.add(toastOf(effect.toast, language())))
          return
        case 'storeLink':
          storeLink(effect.link)
          return
        case 'storeLanguage':
          storeLanguage(effect.language)
          storeChosenLanguage(hash, effect.language)
          return
        case 'redirect':
          if (/^https?:\/\//i.test(effect.url))
            setTimeout(() => leadOn(effect.url, depositId()), effect.afterMs)
          return
        default:
          effect satisfies never
      }
    },
  }
}

/** In the place of this page: Back from the store must not lead here and on again. In a frame the store's page goes on. */
function leadOn(redirectUrl: string, depositId: string): void {
  const isTold = tellStore({ type: 'done', detail: { depositId, status: 'succeeded', redirectUrl } })
  if (!isTold) location.replace(redirectUrl)
}

function toastOf(toast: ToastText, language: FlowState['language']): NewToast {
  const texts = messagesIn(language)
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

/** Refreshes the page as soon as the shopper comes back to it. */
function listenForReturn(flow: Flow): () => void {
  const controller = new AbortController()
  const { signal } = controller
  let lastMs = Date.now()
  const returned = () => {
    lastMs = Date.now()
    flow.returned()
  }
  const connected = () => {
    flow.dispatch({ kind: 'connectionChanged', online: true })
    returned()
  }
  document.addEventListener('visibilitychange', () => !document.hidden && returned(), { signal })
  document.addEventListener('resume', returned, { signal })
  // A page that is shown for the first time has not been away.
  window.addEventListener('pageshow', ({ persisted }) => persisted && returned(), { signal })
  window.addEventListener('online', connected, { signal })
  // A machine that slept tells nobody: only the ticks were missing.
  const ticks = setInterval(() => {
    if (Date.now() - lastMs > SLEPT_MS && !document.hidden) returned()
    lastMs = Date.now()
  }, TICK_MS)
  window.addEventListener('offline', () => flow.dispatch({ kind: 'connectionChanged', online: false }), {
    signal,
  })
  return () => {
    controller.abort()
    clearInterval(ticks)
  }
}
