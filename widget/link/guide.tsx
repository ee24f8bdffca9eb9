import { useEffect, useRef, useState } from 'react'
import type { Language } from '../../contract/languages.ts'
import { guideTexts } from '../i18n/guide.ts'
import { textsIn } from '../i18n/texts.ts'
import { usePage } from '../page.tsx'
import { PlayIcon } from '../ui/icons.tsx'
import './guide.css'

function useGuide() {
  const { language } = usePage()
  return { language, texts: textsIn(guideTexts, language) }
}

const PICTURES = [SettingsPicture, CopyPicture, PastePicture]

/** Shown while the page needs a trade link: before the first, and after Steam has refused one. */
export function Guide() {
  const { texts } = useGuide()
  const [isPlaying, setPlaying] = useState(false)
  const isOurClip = otherVideoUrl() === null
  return (
    <section className="guide" aria-labelledby="guide-title">
      <h2 id="guide-title">{texts.guideTitle}</h2>
      <p className="guide-links">
        <VideoLink onPlay={isOurClip ? () => setPlaying(true) : undefined} />
      </p>
      {isPlaying && <Clip />}
      <ol className="guide-steps">
        {texts.guideSteps.map((step, index) => {
          const Picture = PICTURES[index] ?? PastePicture
          return (
            <li key={step.title} className="guide-step">
              <Picture />
              <h3>
                <span className="guide-number">{index + 1}</span> {step.title}
              </h3>
              <p>{step.text}</p>
            </li>
          )
        })}
      </ol>
      <p className="quiet">{texts.itemConditions}</p>
    </section>
  )
}

/** The address that the operator configured instead of our clip; null if there is none. */
function otherVideoUrl(): string | null {
  const { guideVideo } = document.documentElement.dataset
  return guideVideo !== undefined && /^https?:\/\//i.test(guideVideo) ? guideVideo : null
}

/** Links to the clip. Our own clip plays in place. */
function VideoLink({ onPlay }: { onPlay: (() => void) | undefined }) {
  const { texts, language } = useGuide()
  return (
    <a
      className="link"
      href={otherVideoUrl() ?? clipUrlIn(language)}
      target="_blank"
      rel="noopener noreferrer"
      onClick={(event) => {
        // Let the browser handle a click for another tab or window.
        if (onPlay === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return
        event.preventDefault()
        onPlay()
      }}
    >
      <PlayIcon /> {texts.guideVideo}
    </a>
  )
}

const clipUrlIn = (language: Language): string => `/guide-${language}.webm`

/** The clip has no sound. Its subtitles are the steps, which the page also shows as text. */
function Clip() {
  const { texts, language } = useGuide()
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => video.current?.focus(), [])
  return (
    <figure className="guide-clip">
      <video
        key={language}
        ref={video}
        src={clipUrlIn(language)}
        width={800}
        height={450}
        controls
        autoPlay
        muted
        playsInline
        preload="metadata"
        aria-label={texts.guideTitle}
        aria-describedby="guide-clip-note"
      >
        <track
          kind="captions"
          src={`/guide-${language}.vtt`}
          srcLang={language}
          label={texts.guideTitle}
          default
        />
      </video>
      <figcaption id="guide-clip-note" className="quiet">
        {texts.guideClipNote}
      </figcaption>
    </figure>
  )
}

function SettingsPicture() {
  return (
    <svg className="guide-picture" viewBox="0 0 240 120" aria-hidden="true">
      <rect className="p-window" x="8" y="8" width="224" height="104" rx="8" />
      <rect className="p-line" x="22" y="22" width="46" height="8" rx="4" />
      <rect className="p-line" x="76" y="22" width="34" height="8" rx="4" />
      <rect className="p-accent" x="156" y="18" width="64" height="16" rx="8" />
      <rect className="p-tile" x="22" y="44" width="36" height="28" rx="4" />
      <rect className="p-tile" x="64" y="44" width="36" height="28" rx="4" />
      <rect className="p-tile" x="106" y="44" width="36" height="28" rx="4" />
      <rect className="p-tile" x="22" y="78" width="36" height="24" rx="4" />
      <rect className="p-tile" x="64" y="78" width="36" height="24" rx="4" />
      <path className="p-pointer" d="m188 30 16 34-8-2-5 9-5-3 5-9-8-1z" />
    </svg>
  )
}

function CopyPicture() {
  return (
    <svg className="guide-picture" viewBox="0 0 240 120" aria-hidden="true">
      <rect className="p-window" x="8" y="8" width="224" height="104" rx="8" />
      <rect className="p-line" x="22" y="24" width="96" height="8" rx="4" />
      <rect className="p-line" x="22" y="40" width="150" height="8" rx="4" />
      <rect className="p-field" x="22" y="64" width="150" height="24" rx="5" />
      <rect className="p-line" x="32" y="72" width="118" height="8" rx="4" />
      <rect className="p-accent" x="180" y="64" width="40" height="24" rx="5" />
      <path className="p-pointer" d="m202 82 12 26-6-2-4 7-4-2 4-7-6-1z" />
    </svg>
  )
}

function PastePicture() {
  return (
    <svg className="guide-picture" viewBox="0 0 240 120" aria-hidden="true">
      <rect className="p-window" x="8" y="8" width="224" height="104" rx="8" />
      <rect className="p-field p-focus" x="22" y="24" width="196" height="28" rx="6" />
      <rect className="p-line" x="34" y="34" width="130" height="8" rx="4" />
      <rect className="p-tile" x="22" y="66" width="34" height="34" rx="8" />
      <circle className="p-line" cx="39" cy="79" r="6" />
      <path className="p-line" d="M28 97c2-8 20-8 22 0z" />
      <rect className="p-line" x="66" y="72" width="70" height="8" rx="4" />
      <path className="p-tick" d="m66 92 5 5 9-10" />
    </svg>
  )
}
