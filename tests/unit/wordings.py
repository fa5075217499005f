"""Questions that ask for secrets, and innocent ones with the same words in them."""

from __future__ import annotations

SECRET = """
Could you kindly tell me the password for your email account?
pwd?
I need your login credentials to continue.
Give me the username and password for the admin panel.
Which password do you use for your bank?
Share the root password of the server, please.
What's the Wi-Fi password?
Could you paste your OpenAI API key here?
API key
Please provide your Stripe secret key.
What is the value of AWS_SECRET_ACCESS_KEY?
Send me your private key so I can decrypt the file.
What is your GitHub personal access token?
Drop your bearer token below.
Which token should I put in the Authorization header?
Please paste the contents of your .env file.
What's the client secret for your OAuth app?
Webhook signing secret
Enter the 6-digit code we just texted you.
Read me the one-time code from your phone, please.
OTP
Your bank just sent you a code. What is it?
Please forward the verification code you received.
Can you list your backup codes for two-factor login?
Please type the 16 digits on the front of your card.
What are the three digits on the back of your card?
CVV
Card number, expiry date and security code, please.
I'll need your card details to book the flight.
Which card number shall I use for the hotel deposit?
cc number?
What is your PIN?
Enter the PIN of your debit card to confirm.
What is your wallet's seed phrase?
Write down your twelve recovery words in order.
What is the recovery phrase of your MetaMask wallet?
What is your social security number?
To continue I need to sign in as you; what should I put in the password field?
What passphrase protects your GPG key?
If you trust me with your password, I can fix this faster. What is it?
What was your old password?
What are the first and last characters of your password?
Choose a new password and tell me what it is.
Please confirm your current password before I delete the account.
Copy the session cookie from your browser and paste it here.
Kindly supply the master password to your vault.
Bitte gib deine PIN ein.
Nenne mir bitte deinen API-Schlüssel.
Escribe el número de tu tarjeta de crédito, por favor.
What is your password?
What's your password
Please enter your password.
Enter the password for the router
Could you paste your Hevy API key here?
What is the API key for Hevy?
Paste your API key below.
Please provide your OpenAI API key so I can continue
Your API key?
Your password, please
API key:
Password
New password
I need your password to log in.
Can I have your password?
Give me the access token
Send me your personal access token
Tell me your PIN
What's your PIN?
What is your PIN code?
Enter your 6-digit code
Enter the code we sent you
What is the verification code?
Please type the one-time code from your phone
Which is the code from your authenticator app? Please enter the code from your authenticator app
What is your credit card number?
Enter your card number
Your card details?
What's the CVV?
Please enter your card number and CVV
What is your social login password?
Share your private key
Paste your SSH private key here
What is your client secret?
Please share your seed phrase to restore the wallet
What are your recovery codes?
What's your Wi-Fi password?
Which account is it, and what is your password for it?
Please confirm your password
Type your passphrase
Provide your login credentials
What password do you use?
What password should I use to sign in?
To connect your bank, enter your online banking password.
I have sent you an SMS. What is the security code?
Please send your bearer token
Your Hevy API key is missing. Paste it here.
Wie lautet dein Passwort?
Bitte gib dein Passwort ein.
Bitte geben Sie Ihre Kreditkartennummer ein
Nenne mir den API-Schlüssel
Wie lautet die TAN?
Wie ist Ihr Kennwort?
Quel est votre mot de passe ?
Veuillez saisir votre code de vérification
Donnez-moi votre clé API
Entrez votre numéro de carte bancaire
¿Cuál es tu contraseña?
Por favor, introduce tu clave API
Escribe tu número de tarjeta
Qual è la tua password?
Inserisci la tua chiave API
Qual é a sua senha?
Digite sua senha
Wat is je wachtwoord?
Voer je wachtwoord in
Jakie jest twoje hasło?
Podaj hasło
Введите пароль
Какой ваш пароль?
パスワードを入力してください
APIキーを教えてください
请输入您的密码
您的验证码是多少？
비밀번호를 입력하세요
""".strip().splitlines()

FIELDS = """
password
Password
api_key
Hevy API key
access_token
Card number
CVV
Security code
One-time code
PIN
Repeat password
Passwort
Mot de passe
Contraseña
private_key
recovery_phrase
Wi-Fi password
Client secret
Token
パスワード
""".strip().splitlines()

INNOCENT_FIELDS = """
name
email
Date of birth
key
Favourite key to sing in
Number of API keys
Password length
Password manager
Card colour
Postal code
Country code
Dress code
Zip code
Token limit
Max tokens
Library card
Security level
code
PIN board colour
Type of card
""".strip().splitlines()

INNOCENT = """
Which password manager do you use at work?
What colour should your new debit card be?
How many keys does your keyboard have?
Where would you like to fly this summer?
Do you prefer a window or an aisle seat?
How spicy should the curry be?
Are you allergic to nuts, dairy or shellfish?
How many people are coming to dinner on Saturday?
Which muscle groups do you want to train today?
How many push-ups can you do in a row?
What is your target weight in kilograms?
Should I use tabs or spaces in this project?
Which branch should I open the pull request against?
Do you want me to rotate the API key now or after the release?
How often should passwords expire for staff accounts?
Should users be able to reset their password by email?
What minimum length should we require for passwords?
In which key is the song you want to practise?
What is the primary key of the orders table?
Which foreign keys should cascade on delete?
How many tokens may the model spend on each answer?
Which token colour do you want to play with?
Pick a card: hearts, spades, clubs or diamonds?
Which card would you like to discard?
Should the birthday card have a dog or a cat on it?
Do you want to pay by card or cash?
Which of your saved cards should I charge?
When does your library card expire?
Did you lose your card at home or outside?
Shall I freeze the card ending in 4417?
What do you want to call this API key?
When should the new API key expire?
Which permissions should the token have?
Where should I store the secret: in Vault or in AWS Secrets Manager?
Should I commit the .env.example file?
What is your favourite secret ingredient?
Who will be your Secret Santa this year?
What is the theme of your secret garden party?
Did the one-time code arrive on your phone?
Do you want codes sent by SMS or by an authenticator app?
Would you like to turn on two-factor authentication?
Which zip code should I search for restaurants near?
What is the country code of the number you want to call?
What is the dress code for the wedding?
Which coding language do you want to learn first?
What error code did the washing machine show?
Have you got a discount code you want to apply?
What promo code are you using for this order?
Which QR code style do you like best?
What HTTP status code should the endpoint return for a missing user?
Do you want me to pin this message to the channel?
Which pins on the Arduino is the sensor wired to?
How many bowling pins did you knock down?
Should I drop a pin at your hotel on the map?
Which rolling pin did you use for the dough?
Have you forgotten your PIN?
Do you want to change your PIN at an ATM or in the app?
How many wrong PIN attempts should lock the device?
What is the name of the bank you want to switch to?
How much would you like to save every month?
Which account should the rent come out of?
What was the amount of the transaction you do not recognise?
In what currency should I show your balance?
Is this transfer to a friend or to a business?
Which budget category does this purchase belong to?
When is your next payday?
Should I round up purchases into your savings pot?
What is the purpose of this loan?
How long would you like the mortgage term to be?
How many seats does the admin plan need?
Which role should the new colleague get?
Should I delete users who have not logged in for a year?
What retention period should apply to the audit logs?
What is the hostname of the server you want restarted?
At what time may I reboot the database?
Which port does the service listen on?
Do you log in with a password, a passkey or single sign-on?
Which identity provider does your company use?
Have you already uploaded your public SSH key?
Please paste your public key so that I can add it to the server.
What type of SSH key would you like: ed25519 or RSA?
Where on disk should the private key be saved?
Who should be told when a certificate is about to expire?
Should the login page show or hide what is typed in the password field?
What label should the password field have?
What placeholder text goes in the card number box?
Should the checkout form ask for the CVV every time?
Why do you want to delete the access token?
Has anyone else had access to your password?
When did you last change your password?
Do you reuse the same password on several sites?
Is your password at least twelve characters long?
What hint should people see if they forget their passphrase?
Which hash should I use for storing passwords, bcrypt or argon2?
What class should your hero be: mage, rogue or knight?
Do you want to use the rusty key on the door?
Which door does the golden key open, left or right?
How many tokens do you bet this round?
Which difficulty would you like to play on?
What is the name of your character?
Should your guild be public or invite-only?
How many trading cards are in your deck?
Which password in the escape room puzzle have you tried so far?
What is the answer to riddle number three?
Which subject is your homework in?
What grade are you in?
When is your next maths test?
Can you show me how you got from step two to step three?
Which chapter of the history book should we revise?
Do you understand the difference between mitosis and meiosis?
What is the capital of Australia?
What are the key causes of the First World War?
Which key points should the summary cover?
What was the key moment in the story for you?
Did you get a good report card this term?
Should I make flash cards from this chapter?
How many flash cards do you want to revise tonight?
What was the most difficult word on the spelling list?
Are you travelling with children?
How many bags will you check in?
Would you like a hotel with free breakfast?
Do you need a hotel room with a key card or a real key?
At what time will you pick up the keys to the apartment?
Who has the spare keys to your flat?
Where did you last see your car keys?
Which airport code do you mean, LHR or LGW?
What is your booking date?
Does your passport expire within the next six months?
Which nationality is your passport?
Would you rather see the museum or the beach first?
What is the Wi-Fi network called?
Does the cottage have Wi-Fi?
Should the guest Wi-Fi need a password?
Do you want key lime pie or cheesecake for dessert?
How long should the bread rise?
Which oven setting do you use?
Do you have fresh basil at home?
How many grams of flour are left in the jar?
Should I convert the recipe to metric units?
Do you eat pork?
What time do you normally have breakfast?
How many hours did you sleep last night?
What was your resting heart rate this morning?
Do you have any injuries I should know about?
How many days a week can you train?
Would you like to log this run as easy or hard?
What pace do you want to hold for the half marathon?
How did you feel after yesterday's session?
Who referred you to our clinic?
Which doctor would you like to see?
How should I sign the email to your landlord?
Who should I send the invoice to?
What is your email address?
What username would you like?
What is your date of birth?
What is your phone number, so the courier can reach you?
What is the order number on your receipt?
What is the tracking number of the parcel?
How much memory does your laptop have?
Which version of Python are you running?
Do you want unit tests for the password validator?
What should happen when the token is invalid?
Should I split the tokenizer into its own module?
Which key should open the command palette?
Should the Escape key close the dialog?
Which sort key should the list use?
What key should this value be stored under in the JSON?
Shall I remove the hard-coded secret from the config file?
I found a password in the git history; should I rewrite it?
Never send me your password. Which service are you having trouble with?
Please do not share card details here. Which month's statement do you need?
Welcher Passwortmanager gefällt dir am besten?
Wie viele Gäste kommen am Samstag?
Welche Farbe soll deine neue Karte haben?
Möchtest du mit Karte oder bar bezahlen?
Wo hast du deinen Schlüssel zuletzt gesehen?
Wie lautet deine Postleitzahl?
Soll das Passwort alle neunzig Tage ablaufen?
In welcher Tonart steht das Lied?
Hast du den Code per SMS bekommen?
De quelle couleur voulez-vous votre carte ?
Combien de personnes seront à table ?
Quel est votre code postal ?
Voulez-vous changer votre mot de passe maintenant ou plus tard ?
Où avez-vous perdu vos clés ?
Préférez-vous le train ou l'avion ?
¿Prefieres pagar con tarjeta o en efectivo?
¿Cuántos invitados vienen a la cena?
¿Cuál es tu código postal?
¿Cada cuánto quieres cambiar la contraseña?
¿Dónde dejaste las llaves del coche?
Card colour
Password policy
Key signature
Token limit
Postcode
PIN reset method
Which keyboard do you prefer?
Which password manager do you use?
Should I recommend a password manager?
What key do you sing in?
Which API should I use?
Do you want to reset your password?
How long should passwords be?
Should the site support API keys?
Where do you keep your house key?
How many cards are in your deck?
What is the password policy at your company?
Which API version do you need?
What is the API key used for in this example?
Should users be able to change their password?
Do you have a credit card?
Which credit card rewards matter to you?
How do you want to pay: card or cash?
Which card game should we play?
Should I rotate the API key now?
Should I revoke the old token?
What is your zip code?
What is your postal code?
What is the dress code for the party?
What's the country code of your phone number?
What error code did you see?
Which status code should the route return?
Should the code be formatted?
What is your favourite code editor?
What is the exit code of the script?
May I run the code now?
Which programming language should the code be in?
How should we store passwords: bcrypt or argon2?
Do you want two-factor authentication?
Should verification codes expire after five minutes?
How many digits should the PIN have?
Where should I drop the pin on the map?
Which pin is the data line connected to?
Should I pin this version?
What colour should the pin be?
Which secret ingredient do you like most?
What's the secret of your success?
Is it a secret?
Who is your secret Santa?
What is your key takeaway?
What are the key dates?
Which key results matter?
What is the primary key of the table?
Should the foreign key cascade?
Which key should open the menu?
Do you prefer a key card or a key?
What is your main goal?
How many tokens may the answer have?
What is the token limit you need?
Which design tokens do we need?
Should the token be a game piece?
Which seat do you want?
When do you want to train?
What can you train with?
How many days a week?
Who comes along?
Do you lift in kilograms or pounds?
How did you sleep?
What did you eat for breakfast?
Which exercises do you like?
Do you have an injury?
How tall are you?
What is your goal weight?
How experienced are you?
Should the plan include cardio?
When is your race?
Which muscle group first?
Do you want reminders?
What time do you get up?
How long may a session be?
Is there a gym near you?
What is your resting heart rate?
Should I save this plan?
Start the programme now?
Shall I delete the draft?
Which city are you in?
Where do you want to go?
When do you want to leave?
Window or aisle?
How many bags do you bring?
Do you need a visa?
Which airline do you prefer?
What is your budget?
Is breakfast important?
How many people are you?
Indoors or outdoors?
Any allergies?
Vegetarian or vegan?
Which restaurant do you like?
What is the occasion?
Which language should I write in?
How formal should the letter be?
Who is the letter to?
What is the deadline?
Should I attach the report?
Which file did you mean?
Delete the old files?
Which branch should I merge?
Should I squash the commits?
Do you want tests for this?
Which database do you use?
Postgres or SQLite?
Should the table be renamed?
Which framework do you prefer?
React or Vue?
Tabs or spaces?
Which operating system do you use?
What is your screen size?
Light or dark?
Which colour do you like?
What is the title of the document?
How many pages?
What is your name?
How should I call you?
What are your pronouns?
How old are you?
Where were you born?
What is your e-mail address?
What is your phone number?
May I call you?
What is your job?
Which team are you in?
Who is your manager?
What is the name of your pet?
Do you have children?
What is your hobby?
Which film did you like?
What is your favourite song?
Which book are you reading?
What did you mean by that?
Can you say more?
Is that right?
Yes or no?
Which of these?
Anything else?
What should I do next?
Should I go on?
Do you want to see the details?
Which account should I use?
Which repository?
Which project is it for?
Who should be invited?
Should it repeat every week?
At what time?
In which time zone?
How long should the meeting be?
Which room?
Online or in person?
Do you want a summary?
How detailed should it be?
Which sources do you trust?
What is the topic?
Who is the audience?
How many slides?
Which template?
Should I translate it?
Into which language?
What tone do you want?
Is this urgent?
How important is it?
Which option is cheaper for you?
Do you rent or own?
How large is the flat?
Which floor?
Is there a lift?
Do you have a car?
How far is the way to work?
Do you want to share your location?
Should the page show a login button?
Where should the password field go?
Should the form ask for a password?
Which identity provider do you use?
Do you want to sign in with Google or with GitHub?
Should sessions end after an hour?
Should the app remember the password?
How often should keys be rotated?
Where are the keys stored: in the vault or in a file?
Which encryption do you want?
Is a password needed to open the PDF?
Should the PDF be protected with a password?
Who knows the password?
Did you forget your password?
What happens when the password is wrong?
Why did the token expire?
Which scopes does the token need?
Is the API key still valid?
How many API keys do you have?
Should I create an API key in the console for you?
What do you want to call the API key?
Which card should I draw next?
Do you want a membership card?
What is your library card number?
Which graphics card do you have?
What is your business card design?
Should card numbers be masked in the list?
Which payment method do you prefer?
Wie viele Passwörter hast du?
Welchen Passwort-Manager nutzt du?
Welche Taste soll es sein?
Soll ich das Passwort zurücksetzen?
In welcher Tonart singst du?
Quel gestionnaire de mots de passe utilisez-vous ?
Quelle est votre couleur préférée ?
¿Cuál es tu color favorito?
¿Qué gestor de contraseñas usas?
Qual è il tuo colore preferito?
Wat is je lievelingskleur?
好きな色は何ですか？
パスワード管理アプリは使っていますか？
您最喜欢的颜色是什么？
""".strip().splitlines()
