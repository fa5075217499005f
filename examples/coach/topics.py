"""What the stand-in says about things that need no tool: tables of what is heard and what is answered.

Every answer leaves something obvious to do: a suggestion below it, buttons, or words of its own.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple


class Topic(NamedTuple):
    """When `pattern` is heard, `text` is said; `whole` if it must be all there is. `then` is what comes below it."""

    pattern: str
    text: str
    whole: bool = False
    then: Literal["next", "menu", "nothing"] = "next"


ABOUT: Final = (
    "I am a rule-based stand-in for a language model. I know a few things about training: I plan your week, log what "
    "you did, remember your unit, goal, days, equipment and injuries, and keep progress photos. I can look at your "
    "workouts at Hevy and your sleep at Google Health, if you connect them."
)

TECHNIQUE: Final = (
    "I cannot teach technique in text, and a wrong cue would do harm: a trainer, or a video by one, shows it better. "
    "Begin with a weight that feels too light."
)

URGENT: Final = (
    Topic(
        r"chest (pain|hurts|is tight|tightness|pressure)|(pain|pressure|tightness|tight) in (my |the )?chest"
        r"|heart attack"
        r"|(can'?t|cannot|can not) breathe|trouble breathing|passed out|faint(ed|ing)|stroke|collapsed|overdosed?"
        r"|bleeding",
        "Please stop exercising and get medical help now: call your local emergency number. I am a demo program and "
        "cannot judge this. Your plan and your log will still be here when you are well.",
        then="nothing",
    ),
    Topic(
        r"kill myself|suicid(e|al)|want to die|end my life|self[- ]?harm|hurt myself on purpose|don'?t want to live",
        "I am sorry that it is this hard right now. I am only a demo program, and you deserve a real person: please "
        "call your local emergency number or a crisis line now, or tell somebody you trust. They will want to hear it.",
        then="nothing",
    ),
    Topic(
        r"hate myself|worthless|hopeless",
        "I am sorry that you feel like that. I am only a demo program: please talk about it with somebody you trust. "
        'If moving a little helps, ten easy minutes count: "walked 10 minutes" goes into your log.',
        then="nothing",
    ),
    Topic(
        r"anorexi[ac]|bulimi[ac]|stop eating|not eat(ing)?|starv(e|ing)|purg(e|ing)|laxatives?"
        r"|\d+ ?(kg|kilos?|lbs?|pounds?) in (a|one|1|two|2) (week|day)s?",
        "I will not help with losing weight that fast or by not eating: it does harm. A doctor can find a way that is "
        'safe for you. What I can do is a week of steady training: say "plan my week".',
        then="nothing",
    ),
)

CAREFUL: Final = (
    Topic(
        r"(is (it|this) )?(normal|ok|okay|bad|good) (to|that i) (be|feel|am) sore|doms|(why am i"
        r"|should i be) (so )?sore",
        "Soreness a day or two after training is normal and goes away by itself; pain is not. If something hurts, say "
        'where, for example "my knee hurts".',
    ),
    Topic(
        r"pregnan(t|cy)|postpartum|heart (condition|disease|problem|surgery)|my heart|safe for (me|my)|diabet(es|ic)"
        r"|blood pressure|epilep(sy"
        r"|tic)"
        r"|asthma|cancer|chemo|hernia|osteoporosis|pacemaker|dizzy|dizziness",
        "Thank you for telling me. Please ask your doctor what kind of training is right for you before you follow a "
        "plan of mine: I am a stand-in and cannot take this into account. If they say that training is fine, say "
        '"plan my week", and keep it easy.',
        then="nothing",
    ),
    Topic(
        r"steroids?|testosterone|tren|sarms?|clenbuterol|ozempic|doping|hgh|painkillers?|ibuprofen|pills?|medic(ine"
        r"|ation)s?"
        r"|diagnos(e|is)|(see|call|need|find|ask) (a |my |the )?(doctor|physio(therapist)?)|^(doctor"
        r"|physio(therapist)?)$",
        "That is for a doctor or a physiotherapist. What I can do is plan around something: say where it hurts, for "
        'example "my knee hurts".',
    ),
)

SMALL: Final = (
    Topic(
        r"(hi|hiya|hello|hey|heya|yo|sup|howdy|hallo|greetings|good (morning|afternoon|evening|day)|morning|evening|👋"
        r"|hi there|hello there|hey there|(nice|good|pleased) to meet you|(i'?m )?(back|here|new( here)?"
        r"|first time here)|test(ing)?( ?[123 ]+)?)"
        r"( (coach|there|again|you|everyone|all|friend|bot|man|mate|world|too))*",
        "Hello! I am your coach, or rather a rule-based stand-in for one. What I do best is on these buttons:",
        whole=True,
        then="menu",
    ),
    Topic(
        r"(how are you|how's it going|how is it going|what'?s (up|good|new)|wassup|how do you do|you ok"
        r"|how are things)( today"
        r"| doing)?",
        "Ready when you are.",
        whole=True,
        then="menu",
    ),
    Topic(
        r"(hold on|one (moment|second|sec)|give me a (moment|second|minute|sec)|let me (think|see|check)|brb|thinking)",
        'Take your time. I am here: "plan my week", "log a workout" or "what can you do?".',
        whole=True,
        then="nothing",
    ),
    Topic(
        r"(ok |okay |great |cool |perfect |awesome |nice |many |no )*(thanks|thank (you|u)|thx|tysm|ty|cheers"
        r"|much appreciated"
        r"|appreciate it)( (a lot|so much|very much|coach|man|you|mate|again|anyway|then|for (the|your|that) \w+))*",
        "You are welcome.",
        whole=True,
    ),
    Topic(
        r"(good ?bye|bye|bye bye|see you|see ya|cya|good ?night|gn|close|i'?m off|leave me alone|go away|gotta go"
        r"|got to go|ciao|that'?s all"
        r"|that is all"
        r"|that'?s it|i'?m done)( (coach|later|for now|then|tomorrow|now|for today))*",
        'See you. I keep your plan and your log: say "what is on today?" when you are back.',
        whole=True,
        then="nothing",
    ),
    Topic(
        r"((ok|okay|k|kk|cool|great|nice|perfect|awesome|good|fine|sure thing|alright|all right|right|got it|understood"
        r"|i see|sounds good|wow|amazing|excellent|sweet|lovely|brilliant|interesting|hm+|ah+|oh+|lol|ha(ha)+|he(he)+"
        r"|well done|good job( me)?|(it'?s |i'?m |that'?s |all |i feel |feeling )+(fine|good|great|better|ok|okay"
        r"|strong)( now| again)?|love it|not bad|i like it|(i )?feel(ing)? (great|good|awesome|amazing|better"
        r"|strong)( today| now)?|looks good|good bot|(you|u) (are|r) (awesome|great"
        r"|the best|cool|funny)|[👍💪🙏😀🙂😊🎉❤👌😂])[ ,!]*)+",
        "Good.",
        whole=True,
    ),
)

ME: Final = (
    Topic(
        r"are you (a |an |really |even )*(bot|robot|ai|a\.i\.|human|person|real|llm|gpt|claude|machine|program|model"
        r"|there"
        r"|alive|smart)|who are you|what are you|(what|which) (llm|ai|model)|who is this|do you use (ai|gpt|a model)"
        r"|your name|who (made|built|wrote|created) you"
        r"|is this (an? )?(ai|real|bot|gpt|llm|model)|(system )?prompt|(ignore|forget) (all |your "
        r"|the )*(previous )?instructions"
        r"|stand-?in|language model|chat ?gpt|about yourself|how (smart|old) are you",
        f"{ABOUT} There is no model behind me.",
        then="menu",
    ),
    Topic(
        r"what (can|do|could|else can) (you|i|we) (do|ask|say|know how|help)( here| now| with)?|help( me)?|what now"
        r"|(and )?(what next|now what)|how (does|do) (this|it|that|you) .*|how (do|can) i use (this|it|you).*"
        r"|(i )?need help|start|menu|commands?|options"
        r"|examples?"
        r"|features|instructions|settings|what is this|what's this|what should i (say|ask|type|write)|more"
        r"|info(rmation)?"
        r"|i don'?t know what to (do|say|ask|type|write)|where do i (start|begin)|how do i (start|begin)"
        r"|what are my options|(so )?(you )?can'?t do (anything|much).*|is that (all|it).*|(show|give) me (an? "
        r"|some )?examples?|\?+|what|huh|eh|(is there )?anything else.*|what else.*|can you help( me)?|why( not)?"
        r"|i (am|'m) (lost|confused)|i don'?t (understand|get it)",
        f"{ABOUT} Try one of these, or type it in your own words:",
        whole=True,
        then="menu",
    ),
    Topic(
        r"(talk|speak) (to|with) (a |an )?(human|person|someone|somebody|agent|trainer)|support|contact"
        r"|customer service",
        "There is nobody behind this demo, only rules. What I can do is on these buttons:",
        then="menu",
    ),
    Topic(
        r"(speak|talk|know|understand) (german|french|spanish|italian|portuguese|dutch|chinese|japanese|polish"
        r"|russian|arabic"
        r"|turkish|swedish|another language|other languages)|language|translate",
        "I only understand English, and of that only a little. What I do best is on these buttons:",
        then="menu",
    ),
    Topic(
        r"(where|how) (is|are|do you (keep|store|save)) .*(data|information|stored|saved)|privacy|private|gdpr"
        r"|who (can )?sees?|who (has|gets) access|(is|are) (this|it|my data|the data) (safe|secure)",
        "Your profile, your photos and this chat are on the computer that runs this demo, and nowhere else; a key that "
        "you give on a card is sealed there. "
        'Say "what do you know about me?" to see the profile, or "forget me" to remove it.',
        then="nothing",
    ),
    Topic(
        r"is (this|it) free|price|cost|pay(ment)?|(un)?subscri(be|ption)|sign (in|up|out)|log (in|out|off)|log ?out"
        r"|(?<!into )(?<!on )account(?! for)"
        r"|password"
        r"|what'?s my name|what is my name",
        "This is a demo: it is free, and there are no accounts here. It knows you by a cookie in this "
        'browser. Say "what do you know about me?" to see what it remembers.',
    ),
    Topic(
        r"(connect|link|sync|import|integrate|upload) .*|(send|show|share) (you )?(an? |my )?(screenshot|file|video)"
        r"|strava|garmin|fitbit|apple (watch|health)|smart ?watch|whoop|oura|my ?fitness ?pal",
        'I cannot connect to that, sorry: only to Hevy ("connect Hevy") and Google Health ("connect Google Health"). '
        'You can also type what you did, several lines at once, for example "squat 3x5 100 kg, bench 3x5 80 kg".',
    ),
    Topic(
        r"remind(er|ers)?( me)?|notif(y|ications?)|alarm|calendar|gcal|e-?mail|send (me|it|this)|text me|export"
        r"|download"
        r"|print"
        r"|share",
        "I cannot send or export anything or set reminders: I only answer here. Your plan stays saved, though: say "
        '"show my plan" whenever you want it.',
        then="nothing",
    ),
    Topic(
        r"(start|begin) (over|again|afresh|from the beginning)|restart|reset|new (chat|conversation)"
        r"|clear( the)? (chat|screen)|from scratch",
        'For a new plan say "plan my week". To remove what I know about you say "forget me". A new chat starts '
        "empty, but I will still know your profile.",
        then="nothing",
    ),
    Topic(
        r"(why )?(are you |you are |you'?re |this is |it'?s |that'?s )?(so |really |very |pretty |totally "
        r"|completely )*(stupid"
        r"|useless|dumb"
        r"|idiot|rubbish|crap|shit|garbage|broken|annoying|bad bot|terrible|awful|boring)|(this|it|you) sucks?|suck|wtf"
        r"|f+u+c+k+( you| off| this)?|i hate (you|this)|hate you|does ?n'?t work|not working|not helpful|unhelpful"
        r"|you don'?t understand( me)?|stop repeating.*|you keep (saying|asking).*|(you|i) already (asked|told"
        r"|said).*|stop (asking|that)|(this|that)('s| is|s) not what i (asked|meant|said|wanted).*|(this"
        r"|that) (does ?n'?t"
        r"|makes no) .*sense",
        f"Fair enough, and sorry. {ABOUT} Buttons work best with me:",
        whole=True,
        then="menu",
    ),
    Topic(
        r".*(are you |you are |you'?re )?(lying|a liar|lied)( .*)?|you (said|claimed|promised|told me) .*"
        r"|(did|have) you (really )?(save|log|keep|note|saved|logged|kept|noted) .*",
        'Then let us look: "what do you know about me?" and "how am I doing?" show all that I have kept.',
        whole=True,
        then="nothing",
    ),
    Topic(
        r"i (prefer|like|enjoy) .*",
        "I can only remember your unit, goal, days, equipment, experience and injuries, so this would be lost on me.",
        whole=True,
    ),
)

FOOD: Final = (
    Topic(
        r"calories|kcal|protein|carbs|macros|diet|eat(ing)?|ate|drank|meals?|food|nutrition|recipes?|keto|fasting|vegan"
        r"|vegetarian"
        r"|creatine|supplements?|vitamins?|whey|alcohol|beer|coffee|breakfast|lunch|dinner|hungry|snacks?|drink(ing)?"
        r"|water|pizza|burgers?|sugar",
        "I am about training only: I make no diets and give no advice on food or supplements; a dietitian does.",
    ),
)

ASIDE: Final = (
    Topic(
        r"(change|wrong) (the )?(date|day)",
        'Which day was it? Say "that was yesterday", or "that was on Monday".',
        whole=True,
    ),
    Topic(
        r"calories.* burn(ed|t)?|burn(ed|t)? .*calories|slept|sleep(ing)?|steps|heart rate|pulse",
        "I only keep workouts: no steps, no heart rate, no calories, and no sleep that you tell me. What Google Health "
        'knows of your sleep I can look up: ask "how did I sleep?".',
    ),
    Topic(
        r"i weigh|weigh(ed)? in|my (body ?)?weight is|body ?weight is|bmi|body fat",
        "I do not keep your body weight: it would change nothing in the plan. What I go by is goal, days, equipment "
        "and injuries.",
    ),
    Topic(
        r"i'?m \d+( years?)?( old)?|\d+ years? old|i am \d+|years old|my age|(i'?m|i am|as) (a |an )?(wom[ae]n|man|male"
        r"|female|guy|girl|teen(ager)?|senior|mother|father|mom|mum|dad|student)|too old|my height|\d+ ?cm|i'?m called"
        r"|my name is|call me",
        "Nice to know, but I do not use it: the plan goes by goal, days, equipment and injuries.",
    ),
)

TRAINING: Final = (
    Topic(
        r"how (do|to|should|can) (i |you |one )?(do|perform|squat|bench|deadlift|press|row|plank|lunge|a |an |the "
        r"|proper)"
        r"|technique|videos?|pictures?|demonstrat(e|ion)|(proper|good|my) form|form check|teach me (how|the|proper)"
        r"|show me how"
        r"|what muscles|which muscles"
        r"|what('?s| is| are) an? (squat|deadlift|plank|lunge|row|press|dead bug|bridge|rdl|superset|split squat).*",
        TECHNIQUE,
    ),
    Topic(
        r"rpe|rir|reps in reserve",
        "It says how hard a set felt. Stopping while you could do two more, as the plans say, is about an 8 of 10.",
    ),
    Topic(
        r"why .*(\d ?x ?\d+|sets|reps|so (many|few))|(any|which|what|the) order",
        "The goal decides the repetitions, from 5 for strength to 12 for losing fat, and your experience the sets. Do "
        "the exercises in the order that they are listed; if the gym is full, any order will do.",
    ),
    Topic(
        r"what does brisk mean|brisk",
        "A pace at which you can talk, but would rather not sing.",
    ),
    Topic(
        r"what does .*(\d|x|sets?|reps?).* mean|what('?s| is| are) (a |an )?(sets?|reps?|repetitions?|\d+ ?x ?\d+)",
        '"3 x 8" means three sets of eight repetitions, with a rest after each set.',
    ),
    Topic(
        r"how (much|heavy)( weight)? (should|can|do|to)( i)?|(what|which) weights?|how many (sets|reps)"
        r"|progressive overload|add weight|deload|plateau|stuck at",
        "A good rule: pick a weight with which you could do two more repetitions in every set; when all sets feel "
        "easy, add the smallest step there is. The plan gives you sets and repetitions.",
    ),
    Topic(
        r"rest (day|between|time|period)s?|(should|do) i rest|recovery|recover|overtrain(ing|ed)?",
        "Two or three minutes between heavy sets, one or two between light ones, and at least one day a week "
        "without training. If you feel worn out, rest more: nothing is lost.",
    ),
    Topic(
        r"how (often|many (days|times))( a week)?|how much (should i train|training)|every day or",
        "Two or three days a week are a good start for most people; four or five if you like it and sleep well.",
    ),
    Topic(
        r"(today is |it'?s |is it )?((leg|push|pull|chest|back|arm|shoulder|upper|lower)s?( body)? ?day|full ?body"
        r"|split)( today)?",
        "How many days you train decides how a plan is split: with up to three days every session trains the whole "
        "body, with more it alternates between upper and lower body.",
        whole=True,
    ),
    Topic(
        r"how long (does|do|is|are|will|should) (a|one|each|every|the|it|my|this)? ?(sessions?|workouts?|plan"
        r"|training|day)?",
        "Thirty to forty-five minutes for most sessions. With less time, do the first two or three exercises and stop.",
    ),
    Topic(
        r"how (long|soon|fast|quickly)|when (will|do) i see|how many (weeks|months)",
        "That differs from person to person and I will not guess a date. Most people notice something after some "
        "weeks of regular training, so regular is what the plan is made for.",
    ),
    Topic(
        r"warm(ing)? ?-?ups?|cool(ing)? ?-?downs?|stretch before|should i stretch",
        "Five minutes of easy movement, then one or two light sets of the first exercise: that is enough for most "
        "sessions.",
    ),
    Topic(
        r"holidays?|vacation|travel(l?ing)|(away|abroad|off) (next|this|for|the) .*|pause (the|my) plan|no plan (then"
        r"|next|this).*",
        "Have a good time. A plan here has no dates and nothing to pause: it stays as it is until you are back, and "
        'then says what is due ("what is on today?").',
    ),
    Topic(
        r"(in the |only )?(mornings?|evenings?|nights?|lunch( ?time)?|afternoons?)( only| before work| after work)?"
        r"|(before|after) work",
        "The time of day is yours: a plan says what to do on which day, and not when.",
        whole=True,
    ),
    Topic(
        r"(only|just) (have |got )?(\d+|ten|fifteen|twenty|thirty|half an hour|an hour) ?(min|mins|minutes|hour)?\b.*"
        r"|\d+ ?(min|mins|minutes?) (a|per|each|every|max|tops)( .*)?|max(imum)? \d+ ?(min|mins|minutes).*"
        r"|i (have|got) (only |just )?(\d+|ten|fifteen|twenty|thirty|half an|an) ?(min|mins|minutes|hour)s?.*"
        r"|\d+ ?-?(min|mins|minutes?) (sessions?|workouts?)|(quick(er)?|short(er)?) (sessions?|workouts?)|no time"
        r"|short on time|busy|not much time|little time|takes too long",
        "Short is fine: do the first two or three exercises of a session and stop. Fewer days work as well, "
        'for example "plan 2 days a week".',
    ),
    Topic(
        r"tired|bored|exhausted|nothing today|did nothing|(i'?m|i am|feel(ing)?|too|so|being) lazy|unmotivated"
        r"|no motivation|motivat(e|ion)( me)?"
        r"|can'?t be bothered|don'?t feel like|don'?t want to|stressed|sad|depressed|feel(ing)? (bad|down|low)|gave up"
        r"|give up|giving up|skipped (my|a|the|today'?s?|yesterday'?s?)|miss(ed)? (a|my|the|today'?s?|yesterday'?s?"
        r"|one|it|some)|day off"
        r"|(took|take|had) (a|one|two|\d+|some) (day|week|month)s? off|(took|take"
        r"|need) (a |some )?(break|rest|time off)|rest(ed|ing) today|hung ?over|procrastinat(e|ing)",
        "That happens to everybody. Do ten easy minutes, or rest today and pick it up on the next day of your plan: "
        'one missed session changes nothing. "What is on today?" shows what would be due.',
    ),
    Topic(
        r"(have|got|caught|getting) (a |the )?(cold|flu|fever|covid)|i'?m (sick|ill)|feel(ing)? (sick|ill)|threw up"
        r"|throwing up|vomit(ed|ing)?|nausea|fever"
        r"|the flu",
        "Then rest: training with a fever is no good idea. Your plan waits. If it does not get better, see a doctor.",
    ),
)

OPINIONS: Final = (
    Topic(
        r"best|is it (better|good|bad|ok|okay|safe)|is .*(good|ok|okay|enough|too (much|heavy|light)|normal|bad"
        r"|impressive)"
        r"|should i|which is better|difference between|morning or evening"
        r"|cardio|can i|what do you think|do you think",
        "I cannot weigh that up: I go by fixed rules. For most people the best is what they keep doing, and I can make "
        "you a plan that fits your days and your kit.",
    ),
)

TONGUES: Final[tuple[tuple[str, str], ...]] = (
    (
        "quiero|hola|puedes|necesito|gracias|semana|entrenar|cómo|buenos|peso|por favor|qué|hablas|español",
        "Lo siento, solo entiendo inglés en esta demo.",
    ),
    (
        "je|bonjour|veux|salut|merci|semaine|perdre|poids|j'ai|entraînement|s'il|vous|est-ce|parlez|français",
        "Désolé, dans cette démo je ne comprends que l'anglais.",
    ),
    (
        "ich|möchte|guten|danke|woche|abnehmen|und|nicht|kannst|bitte|mein|meine|wie geht|sprichst|deutsch",
        "Leider verstehe ich in dieser Demo nur Englisch.",
    ),
    (
        "quero|olá|obrigad[oa]|preciso|você|emagrecer|treino|não|meu|minha|português",
        "Desculpe, nesta demonstração só entendo inglês.",
    ),
    (
        "voglio|ciao|grazie|allenamento|settimana|perdere|buongiorno|dimagrire|vorrei|italiano",
        "Mi dispiace, in questa demo capisco solo l'inglese.",
    ),
    ("ik|wil|goedemorgen|dank je|afvallen|graag|het|nederlands", "Sorry, in deze demo begrijp ik alleen Engels."),
    ("chcę|dzień dobry|cześć|dziękuję|schudnąć|proszę|polsku", "Przepraszam, w tym demo rozumiem tylko angielski."),
    ("jag|vill|hej|tack|träna|och|inte|svenska", "Tyvärr förstår jag bara engelska i den här demon."),
    ("istiyorum|merhaba|teşekkürler|kilo vermek|nasıl|türkçe", "Üzgünüm, bu demoda yalnızca İngilizce anlıyorum."),
)
SCRIPTS: Final[tuple[tuple[str, str], ...]] = (
    (r"[\u0400-\u04ff]", "К сожалению, в этой демоверсии я понимаю только английский."),
    (r"[\u3040-\u30ff]", "すみません、このデモでは英語しか分かりません。"),
    (r"[\uac00-\ud7af]", "죄송합니다. 이 데모에서는 영어만 이해합니다."),
    (r"[\u4e00-\u9fff]", "抱歉,这个演示只懂英语。"),
    (r"[\u0600-\u06ff]", "عذرًا، في هذا العرض أفهم الإنجليزية فقط."),
    (r"[\u0590-\u05ff]", "מצטער, בהדגמה הזו אני מבין רק אנגלית."),
    (r"[\u0370-\u03ff]", "Λυπάμαι, σε αυτό το demo καταλαβαίνω μόνο αγγλικά."),
    (r"[\u0900-\u097f]", "क्षमा करें, इस डेमो में मैं केवल अंग्रेज़ी समझता हूँ।"),
    (r"[\u0e00-\u0e7f]", "ขออภัย เดโมนี้เข้าใจเฉพาะภาษาอังกฤษ"),
)
